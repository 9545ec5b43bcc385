// Mutants of stream_add_callback.
#include <atomic>

#include "overlay.hpp"

namespace hal::mutants {
namespace {

// A callback of the caller with what is needed to call it differently.
struct Wrapped {
    hal_stream_callback callback;
    void* user;
    hal_dev device;
    hal_stream stream;
    int calls = 1;
};

using Run = void (*)(const Wrapped&, hal_dev device, hal_stream stream, hal_status status);

template <Run run>
void run_wrapped(void* argument, hal_dev device, hal_stream stream, hal_status status) {
    const Wrapped wrapped = *static_cast<Wrapped*>(argument);
    delete static_cast<Wrapped*>(argument);
    run(wrapped, device, stream, status);
}

// Enqueues `run` on `on` in place of the callback.
template <Run run>
hal_status enqueue(hal_instance* self, hal_dev device, hal_stream on, const Wrapped& wrapped) {
    auto* const copy = new Wrapped(wrapped);
    const hal_status status = base.stream.stream_add_callback(self, device, on, run_wrapped<run>, copy);
    if (status != HAL_OK) {
        delete copy;
    }
    return status;
}

bool well_formed(hal_instance* self, hal_dev device, hal_stream stream, hal_stream_callback callback) {
    return callback != nullptr && base.stream.query_stream(self, device, stream, nullptr) >= 0;
}

template <Run run>
hal_status replaced(hal_instance* self, hal_dev device, hal_stream stream, hal_stream_callback callback, void* user) {
    return callback == nullptr ? base.stream.stream_add_callback(self, device, stream, callback, user)
                               : enqueue<run>(self, device, stream, {callback, user, device, stream});
}

void call_twice(const Wrapped& w, hal_dev device, hal_stream stream, hal_status status) {
    w.callback(w.user, device, stream, status);
    w.callback(w.user, device, stream, status);
}
void call_shifted(const Wrapped& w, hal_dev device, hal_stream stream, hal_status status) {
    w.callback(static_cast<char*>(w.user) + 8, device, stream, status);
}
void call_device_0(const Wrapped& w, hal_dev, hal_stream stream, hal_status status) {
    w.callback(w.user, 0, stream, status);
}
void call_null_stream(const Wrapped& w, hal_dev device, hal_stream, hal_status status) {
    w.callback(w.user, device, nullptr, status);
}
void call_ok(const Wrapped& w, hal_dev device, hal_stream stream, hal_status) {
    w.callback(w.user, device, stream, HAL_OK);
}
void call_as_named(const Wrapped& w, hal_dev, hal_stream, hal_status status) {
    w.callback(w.user, w.device, w.stream, status);
}
void call_unless_error(const Wrapped& w, hal_dev device, hal_stream stream, hal_status status) {
    if (status == HAL_OK) {
        w.callback(w.user, device, stream, status);
    }
}

}  // namespace

void cb_never(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        return well_formed(self, device, stream, callback)
                   ? HAL_OK
                   : base.stream.stream_add_callback(self, device, stream, callback, user);
    };
}

void cb_one_in_a_thousand_lost(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        static std::atomic<unsigned> calls{0};
        return ++calls % 1000 == 0 ? HAL_OK : base.stream.stream_add_callback(self, device, stream, callback, user);
    };
}

void cb_twice(Plugin& plugin) {
    plugin.stream.stream_add_callback = replaced<call_twice>;
}

// At once, on a thread of its own, whatever the stream still has to do.
void cb_early(Plugin& plugin) {
    with_hidden_streams(plugin);
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        return well_formed(self, device, stream, callback)
                   ? enqueue<call_as_named>(self, device, hidden_stream(self, device), {callback, user, device, stream})
                   : base.stream.stream_add_callback(self, device, stream, callback, user);
    };
}

void cb_inline(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (!well_formed(self, device, stream, callback)) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        callback(user, device, stream, HAL_OK);
        return HAL_OK;
    };
}

// On the caller's thread, after the stream has drained: right order, wrong thread.
void cb_callers_thread(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (!well_formed(self, device, stream, callback)) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        drain(self, device, stream);
        callback(user, device, stream, HAL_OK);
        return HAL_OK;
    };
}

void cb_user_data_shifted(Plugin& plugin) {
    plugin.stream.stream_add_callback = replaced<call_shifted>;
}

void cb_wrong_device(Plugin& plugin) {
    plugin.stream.stream_add_callback = replaced<call_device_0>;
}

void cb_wrong_stream(Plugin& plugin) {
    plugin.stream.stream_add_callback = replaced<call_null_stream>;
}

void cb_status_always_ok(Plugin& plugin) {
    plugin.stream.stream_add_callback = replaced<call_ok>;
}

void cb_lost_on_error(Plugin& plugin) {
    plugin.stream.stream_add_callback = replaced<call_unless_error>;
}

// What blocks inside a callback is not told so: the callback runs on a thread that nobody knows.
void cb_reentrance_not_told(Plugin& plugin) {
    equivalent_callback_thread(plugin);
}

// After the work before it, but nothing waits for it.
void cb_holds_nothing(Plugin& plugin) {
    with_hidden_streams(plugin);
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (!well_formed(self, device, stream, callback)) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        const hal_stream hidden = hidden_stream(self, device);
        hal_event event = nullptr;
        (void)base.event.create_event(self, device, nullptr, &event);
        (void)base.event.record_event(self, device, stream, event);
        (void)base.stream.stream_wait_event(self, device, hidden, event);
        (void)base.event.destroy_event(self, device, event);
        return enqueue<call_as_named>(self, device, hidden, {callback, user, device, stream});
    };
}

// Two queues that take turns: callbacks overtake each other.
void cb_overtakes(Plugin& plugin) {
    with_hidden_streams(plugin);
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        static std::atomic<unsigned> calls{0};
        if (++calls % 7 != 0 || !well_formed(self, device, stream, callback)) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        return enqueue<call_as_named>(self, device, hidden_stream(self, device), {callback, user, device, stream});
    };
}

namespace {
thread_local bool in_callback = false;
void call_noted(const Wrapped& w, hal_dev device, hal_stream stream, hal_status status) {
    in_callback = true;
    w.callback(w.user, device, stream, status);
    in_callback = false;
}
}  // namespace
// What a callback enqueues is refused.
void cb_enqueue_inside_refused(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (in_callback) {
            return refuse(self, HAL_ERROR_REENTRANT, "inside a callback nothing can be enqueued");
        }
        return replaced<call_noted>(self, device, stream, callback, user);
    };
}

}  // namespace hal::mutants
