/* The smallest valid back end: one device, and the eight mandatory entries of GB/T 45079-2024 tables 1 and 4.
   Copy this folder (tools/new-backend does it), then replace what the marks (1) to (5) name, in this order. Whatever is
   absent here, the loader answers with UNSUPPORTED and a text, so add tables and entries one at a time.

   The device of this back end does nothing, at once: no work is ever pending, so waiting returns and an event is
   complete as soon as it is recorded. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hal/plugin.h"

/* (1) The name: the same as ID in CMakeLists.txt. */
#define BACKEND_NAME "skeleton"

/* (2) How many devices there are: ask your driver in `create`, and keep the answer in the instance. */
#define DEVICE_COUNT 1

/* (3) What an event of your driver is. */
struct hal_event_object {
    hal_event previous;
    hal_event next;
};

/* Everything that changes hangs off the instance, never off a global: the host may open several. */
struct hal_instance {
    const hal_host* host;
    pthread_key_t current_device; /* per thread; a new thread reads NULL, which is device 0 */
    pthread_mutex_t lock;         /* guards the list; never held while the host is called */
    hal_event events;             /* every live event, to tell live handles from others and to end them in `destroy` */
};

/* Returns the status after it has told the host why. Every error needs a text: what is wrong, where, what to do. */
__attribute__((format(printf, 3, 4))) static hal_status fail(const hal_host* host, hal_status status,
                                                             const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host->set_error(host, status, 0, text);
    return status;
}

static hal_status null_argument(hal_instance* self, const char* name) {
    return fail(self->host, HAL_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
}

static hal_status check_device(hal_instance* self, hal_dev device) {
    if (device >= 0 && device < DEVICE_COUNT) {
        return HAL_OK;
    }
    return fail(self->host, HAL_ERROR_INVALID_DEVICE, "device %" PRId32 " does not exist; there are %d", device,
                DEVICE_COUNT);
}

/* The NULL stream is the device's default stream. With no create_stream no other can exist. */
static hal_status check_stream(hal_instance* self, hal_stream stream) {
    if (stream == NULL) {
        return HAL_OK;
    }
    return fail(self->host, HAL_ERROR_INVALID_HANDLE, "stream %p is not one of this back end; use NULL", (void*)stream);
}

/* ---- Table 1: devices ---- */

/* (4) Select your device here if your driver has a current device, and undo that in entries that name another one. */
static hal_status set_device(hal_instance* self, hal_dev device) {
    const hal_status status = check_device(self, device);
    if (status != HAL_OK) {
        return status;
    }
    if (pthread_setspecific(self->current_device, (void*)(intptr_t)device) != 0) {
        return fail(self->host, HAL_ERROR_OUT_OF_HOST_MEMORY, "no memory for this thread's current device");
    }
    return HAL_OK;
}

static hal_status get_device(hal_instance* self, hal_dev* out_device) {
    if (out_device == NULL) {
        return null_argument(self, "out_device");
    }
    *out_device = (hal_dev)(intptr_t)pthread_getspecific(self->current_device);
    return HAL_OK;
}

static hal_status synchronize_device(hal_instance* self, hal_dev device, uint64_t timeout_ns) {
    (void)timeout_ns; /* nothing is ever pending */
    return check_device(self, device);
}

static hal_status get_device_count(hal_instance* self, int32_t* out_count) {
    if (out_count == NULL) {
        return null_argument(self, "out_count");
    }
    *out_count = DEVICE_COUNT;
    return HAL_OK;
}

/* ---- Table 4: events ---- */

/* The list costs a walk for each check. A driver that checks its own handles makes it unnecessary. */
static int is_live(hal_instance* self, hal_event event) {
    hal_event live = self->events;
    while (live != NULL && live != event) {
        live = live->next;
    }
    return live != NULL;
}

static hal_status dead_event(hal_instance* self, hal_event event) {
    return fail(self->host, HAL_ERROR_INVALID_HANDLE, "%p is not a live event of this back end", (void*)event);
}

static hal_status check_event(hal_instance* self, hal_dev device, hal_event event) {
    const hal_status status = check_device(self, device);
    if (status != HAL_OK) {
        return status;
    }
    pthread_mutex_lock(&self->lock);
    const int live = is_live(self, event);
    pthread_mutex_unlock(&self->lock);
    return live ? HAL_OK : dead_event(self, event);
}

/* Create-structs grow: read no further than desc->header.size, and refuse a chained struct that must be understood. */
static hal_status check_event_desc(hal_instance* self, const hal_event_desc* desc) {
    if (desc == NULL) {
        return HAL_OK;
    }
    if (desc->header.size < sizeof(hal_header)) {
        return fail(self->host, HAL_ERROR_INVALID_ARGUMENT,
                    "desc.header.size is %" PRIu32 "; set it to sizeof the struct", desc->header.size);
    }
    for (const hal_header* link = desc->header.next; link != NULL; link = link->next) {
        if ((link->kind & HAL_MUST_UNDERSTAND) != 0) {
            return fail(self->host, HAL_ERROR_UNSUPPORTED, "chained struct of kind %" PRIu32 " is not known here",
                        link->kind);
        }
    }
    const int has_flags = desc->header.size >= offsetof(hal_event_desc, flags) + sizeof desc->flags;
    if (has_flags && desc->flags != 0) {
        return fail(self->host, HAL_ERROR_UNSUPPORTED,
                    "events of this back end know no flags, 0x%" PRIx32 " was asked for", desc->flags);
    }
    return HAL_OK;
}

static hal_status create_event(hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out_event) {
    if (out_event == NULL) {
        return null_argument(self, "out_event");
    }
    hal_status status = check_device(self, device);
    if (status == HAL_OK) {
        status = check_event_desc(self, desc);
    }
    if (status != HAL_OK) {
        return status;
    }
    hal_event event = calloc(1, sizeof *event);
    if (event == NULL) {
        return fail(self->host, HAL_ERROR_OUT_OF_HOST_MEMORY, "no memory for an event");
    }
    pthread_mutex_lock(&self->lock);
    event->next = self->events;
    if (event->next != NULL) {
        event->next->previous = event;
    }
    self->events = event;
    pthread_mutex_unlock(&self->lock);
    *out_event = event;
    return HAL_OK;
}

/* Looks up and unlinks under one lock, so that of two threads that destroy one event the second is told. */
static hal_status destroy_event(hal_instance* self, hal_dev device, hal_event event) {
    const hal_status status = check_device(self, device);
    if (status != HAL_OK) {
        return status;
    }
    pthread_mutex_lock(&self->lock);
    const int live = is_live(self, event);
    if (live) {
        *(event->previous == NULL ? &self->events : &event->previous->next) = event->next;
        if (event->next != NULL) {
            event->next->previous = event->previous;
        }
    }
    pthread_mutex_unlock(&self->lock);
    if (!live) {
        return dead_event(self, event);
    }
    free(event);
    return HAL_OK;
}

/* (5) Enqueue the marker of your driver. Here all earlier work is complete, and with it the event. */
static hal_status record_event(hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
    const hal_status status = check_stream(self, stream);
    return status == HAL_OK ? check_event(self, device, event) : status;
}

static hal_status synchronize_event(hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
    (void)timeout_ns;
    return check_event(self, device, event);
}

/* ---- Tables, instance, entry ---- */

static const hal_device_table device_table = {
    .header = {sizeof(hal_device_table), HAL_TABLE_device},
    .set_device = set_device,
    .get_device = get_device,
    .synchronize_device = synchronize_device,
    .get_device_count = get_device_count,
};

static const hal_event_table event_table = {
    .header = {sizeof(hal_event_table), HAL_TABLE_event},
    .create_event = create_event,
    .destroy_event = destroy_event,
    .record_event = record_event,
    .synchronize_event = synchronize_event,
};

/* NULL for every table that this back end does not have: the loader fills it with explanations. */
static const hal_table_header* get_table(hal_instance* self, uint32_t id_major) {
    (void)self;
    switch (id_major) {
        case HAL_TABLE_device:
            return &device_table.header;
        case HAL_TABLE_event:
            return &event_table.header;
        default:
            return NULL;
    }
}

static hal_status create(const hal_host* host, hal_instance** out_instance) {
    hal_instance* self = calloc(1, sizeof *self);
    if (self == NULL) {
        return fail(host, HAL_ERROR_OUT_OF_HOST_MEMORY, "no memory for an instance of " BACKEND_NAME);
    }
    self->host = host;
    if (pthread_mutex_init(&self->lock, NULL) != 0) {
        free(self);
        return fail(host, HAL_ERROR_OUT_OF_RESOURCES, "no mutex for an instance of " BACKEND_NAME);
    }
    if (pthread_key_create(&self->current_device, NULL) != 0) {
        pthread_mutex_destroy(&self->lock);
        free(self);
        return fail(host, HAL_ERROR_OUT_OF_RESOURCES, "the process has no thread-specific key left for " BACKEND_NAME);
    }
    *out_instance = self;
    return HAL_OK;
}

/* The host may leave objects behind: they end here. */
static void destroy(hal_instance* self) {
    while (self->events != NULL) {
        hal_event event = self->events;
        self->events = event->next;
        free(event);
    }
    pthread_key_delete(self->current_device);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static const hal_backend_descriptor descriptor = {
    .size = sizeof(hal_backend_descriptor),
    .abi_version = HAL_ABI_VERSION,
    .flags = HAL_BACKEND_FORK_SAFE, /* no threads, no driver; few drivers survive fork: then answer FORKED instead */
    .name = BACKEND_NAME,
    .vendor = "HAL project",
    .version = "0.1.0",
    .build = "",
    .create = create,
    .destroy = destroy,
    .get_table = get_table,
};

/* The one exported symbol. Pure: no hardware, no thread, no memory; the host may call it any number of times. */
const hal_backend_descriptor* hal_backend_entry_v1(const hal_host* host) {
    if (HAL_VERSION_MAJOR_OF(host->abi_version) != HAL_ABI_MAJOR) {
        fail(host, HAL_ERROR_ABI, BACKEND_NAME " speaks ABI %u.%u, the host %u.%u", HAL_ABI_MAJOR, HAL_ABI_MINOR,
             HAL_VERSION_MAJOR_OF(host->abi_version), HAL_VERSION_MINOR_OF(host->abi_version));
        return NULL;
    }
    return &descriptor;
}
