/* call ID: opens a back end through the installed loader and calls its mandatory entries. */
#include <stdio.h>
#include <string.h>

#include "hal/hal.h"

static int check(hal_status status, hal_status expected, const char* what) {
    if (status == expected) {
        return 0;
    }
    fprintf(stderr, "%s: %s instead of %s: %s\n", what, hal_status_name(status), hal_status_name(expected), hal_last_error());
    return 1;
}

static int call(const hal_backend* backend) {
    int32_t count = 0;
    hal_dev device = -1;
    hal_event event = NULL;
    uint64_t size = 0;
    int bad = check(hal_get_device_count(backend, &count), HAL_OK, "get_device_count");
    bad += check(hal_set_device(backend, 0), HAL_OK, "set_device");
    bad += check(hal_get_device(backend, &device), HAL_OK, "get_device");
    bad += check(hal_create_event(backend, 0, NULL, &event), HAL_OK, "create_event");
    bad += check(hal_record_event(backend, 0, NULL, event), HAL_OK, "record_event");
    bad += check(hal_synchronize_event(backend, 0, event, HAL_NO_TIMEOUT), HAL_OK, "synchronize_event");
    bad += check(hal_destroy_event(backend, 0, event), HAL_OK, "destroy_event");
    bad += check(hal_synchronize_device(backend, 0, HAL_NO_TIMEOUT), HAL_OK, "synchronize_device");
    /* The plug-in's own error text comes through. */
    bad += check(hal_set_device(backend, 7), HAL_ERROR_INVALID_DEVICE, "set_device of a device that is none");
    if (strstr(hal_last_error(), "device 7 does not exist") == NULL) {
        fprintf(stderr, "text of the plug-in is lost: %s\n", hal_last_error());
        ++bad;
    }
    /* What the plug-in lacks explains itself. */
    bad += check(hal_device_max_chunk_size(backend, 0, &size), HAL_ERROR_UNSUPPORTED, "device_max_chunk_size");
    if (strstr(hal_last_error(), "table 2") == NULL) {
        fprintf(stderr, "text of the stub names no table: %s\n", hal_last_error());
        ++bad;
    }
    if (count != 1 || device != 0) {
        fprintf(stderr, "%d devices, device %d is current\n", (int)count, (int)device);
        ++bad;
    }
    return bad;
}

int main(int argc, char** argv) {
    hal_loader* loader = NULL;
    const hal_backend* backend = NULL;
    if (argc != 2 || check(hal_loader_open(NULL, &loader), HAL_OK, "hal_loader_open")) {
        return 2;
    }
    int bad = check(hal_backend_open(loader, argv[1], &backend), HAL_OK, "hal_backend_open");
    if (!bad) {
        bad = call(backend);
    }
    bad += check(hal_loader_close(loader), HAL_OK, "hal_loader_close");
    printf("%s: %s\n", argv[1], bad ? "failed" : "called");
    return bad != 0;
}
