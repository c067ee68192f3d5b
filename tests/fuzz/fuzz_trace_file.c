/* fuzz_trace_file.c - pvm-trace: untrusted files of both formats, and every kind of output for them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tools/pvm-trace/draw/chrome.h"
#include "tools/pvm-trace/draw/heatmap.h"
#include "tools/pvm-trace/draw/paje.h"
#include "tools/pvm-trace/reader.h"
#include "tools/pvm-trace/draw/summary.h"
#include "tools/pvm-trace/draw/svg.h"
#include "fuzz.h"

static FILE *nowhere;

static void draw(const struct timeline *t, const struct pairs *p)
{
    struct svg_options whole = {.to_us = -1, .width = 1100, .arrows = true};
    struct summary s;
    chrome_write(nowhere, t, p);
    paje_write(nowhere, t, p);
    svg_write(nowhere, t, p, &whole);
    summary_make(t, p, &s);
    summary_print(nowhere, &s);
    summary_print_json(nowhere, &s);
    heatmap_write(nowhere, &s);
    summary_free(&s);
}

static void show(const struct trace *trace)
{
    struct timeline t;
    struct pairs p;
    timeline_make(trace, &t);
    pairs_make(&t, &p);
    draw(&t, &p);
    pairs_free(&p);
    timeline_free(&t);
}

static int file;
static char path[32];

static void start(void)
{
    nowhere = fopen("/dev/null", "w");
    file = memfd_create("trace", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace t = {0};
    if (!nowhere)
        start();
    MUST(!ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size);
    if (!reader_read(path, &t))
        show(&t);
    trace_free(&t);
    return 0;
}
