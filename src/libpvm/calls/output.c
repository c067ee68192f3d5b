/* output.c - pvm_catchout: collects the output of child tasks and writes it line by line. */
#include "output.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/options.h"
#include "libpvm/base/perror.h"
#include "enrol.h"
#include "libpvm/engine/wait.h"

int pvm_catchout(FILE *file); /* pvm3.h declares it only after stdio.h */

#define LINE_MAX_BYTES ((size_t)1 << 20) /* longer lines are cut */

struct child {
    pvmc_tid tid;
    bool begun;    /* its BEGIN has been written */
    bool ended;    /* its EOF has been written; kept until pvm_spawn() has returned its tid */
    bool expected; /* pvm_spawn() has returned its tid */
    bool foreign;  /* another task's child */
    bool spawned;  /* the parent's daemon has reported it */
    char *line;    /* unfinished */
    size_t length, capacity;
    UT_hash_handle hh;
};

static struct child *children;
static FILE *sink; /* NULL: output is dropped */

/* ---- the table ---- */

static struct child *child_find(pvmc_tid tid)
{
    struct child *c;
    HASH_FIND_INT(children, &tid, c);
    return c;
}

static struct child *child_get(pvmc_tid tid)
{
    struct child *c = child_find(tid);
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (c)
        c->tid = tid;
    if (!c || !PVMC_HASH_ADD(hh, children, tid, c)) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to collect the output of t%x", tid);
        free(c);
        return NULL;
    }
    return c;
}

static void child_free(struct child *c)
{
    HASH_DEL(children, c);
    free(c->line);
    free(c);
}

/* ---- writing ---- */

static void write_line(const struct child *c, const char *text, size_t length)
{
    if (!sink)
        return;
    if (pvmi_options.show_tids)
        fprintf(sink, "[t%x] ", c->tid);
    fwrite(text, 1, length, sink);
    fputc('\n', sink);
}

static void write_mark(const struct child *c, const char *mark)
{
    if (sink && pvmi_options.show_tids)
        fprintf(sink, "[t%x] %s\n", c->tid, mark);
}

static void flush_line(struct child *c)
{
    if (!c->length)
        return;
    if (pvmi_options.show_tids)
        write_line(c, c->line, c->length);
    else if (sink)
        fwrite(c->line, 1, c->length, sink);
    c->length = 0;
}

/* Keeps the beginning of a line until its end comes. */
static void keep(struct child *c, const char *text, size_t length)
{
    if (c->length + length > c->capacity) {
        size_t capacity = 2 * (c->length + length);
        char *bigger = realloc(c->line, capacity);
        if (!bigger) {
            pvmc_log(PVMC_LOG_ERROR, "no memory for a line of t%x: lost %zu bytes of it", c->tid, length);
            return;
        }
        c->line = bigger;
        c->capacity = capacity;
    }
    memcpy(c->line + c->length, text, length);
    c->length += length;
    if (c->length > LINE_MAX_BYTES) {
        write_line(c, c->line, c->length);
        c->length = 0;
    }
}

static void add_text(struct child *c, const char *text, size_t length)
{
    const char *newline;
    while ((newline = memchr(text, '\n', length))) {
        size_t part = newline - text;
        if (c->length) {
            keep(c, text, part);
            write_line(c, c->line ? c->line : "", c->length);
            c->length = 0;
        } else {
            write_line(c, text, part);
        }
        text = newline + 1;
        length -= part + 1;
    }
    if (length)
        keep(c, text, length);
}

/* ---- reports of the daemon ---- */

static void begin(struct child *c)
{
    if (!c->begun)
        write_mark(c, "BEGIN");
    c->begun = true;
}

/*
 * Keeps a child of ours until pvm_spawn() has returned it, and another task's child until its parent's daemon has
 * reported it. Both may happen after its end.
 */
static void forget_if_done(struct child *c)
{
    if (c->ended && (c->foreign ? c->spawned : c->expected))
        child_free(c);
}

static void end(struct child *c)
{
    flush_line(c);
    write_mark(c, "EOF");
    c->ended = true;
    forget_if_done(c);
}

static void take_parent(struct child *c, struct pvmc_message *m)
{
    int parent;
    if (!pvmc_message_unpack(m, PVM_INT, &parent, 1, 1))
        c->foreign = parent != (int)pvmi_task.tid;
}

static void take_new(struct child *c, struct pvmc_message *m)
{
    take_parent(c, m);
    begin(c);
}

static void take_spawned(struct child *c, struct pvmc_message *m)
{
    take_parent(c, m);
    c->spawned = true;
    forget_if_done(c);
}

static void take_text(struct child *c, struct pvmc_message *m, int n)
{
    char *text = malloc(n);
    if (text && !pvmc_message_unpack(m, PVM_BYTE, text, n, 1)) {
        begin(c);
        add_text(c, text, n);
    }
    free(text);
}

/* Standard error of a task spawned with PvmTaskStreams: to us it is all one. */
static void take_error(struct child *c, struct pvmc_message *m)
{
    int n;
    if (!pvmc_message_unpack(m, PVM_INT, &n, 1, 1) && n > 0 && (uint64_t)n <= m->length)
        take_text(c, m, n);
}

void pvmi_output_take(struct pvmc_message *m)
{
    int tid, n;
    if (pvmc_message_unpack(m, PVM_INT, &tid, 1, 1) || pvmc_message_unpack(m, PVM_INT, &n, 1, 1))
        return;
    struct child *c = child_get((pvmc_tid)tid);
    if (!c)
        return;
    if (n > 0 && (uint64_t)n <= m->length)
        take_text(c, m, n);
    else if (n == PVMC_OUTPUT_ERROR)
        take_error(c, m);
    else if (n == PVMC_OUTPUT_EOF)
        end(c);
    else if (n == PVMC_OUTPUT_NEW)
        take_new(c, m);
    else if (n == PVMC_OUTPUT_SPAWN)
        take_spawned(c, m);
    if (sink)
        fflush(sink);
}

/* ---- the end of output ---- */

void pvmi_output_expect(const int *tids, int count)
{
    for (int i = 0; i < count; i++) {
        struct child *c = child_get((pvmc_tid)tids[i]);
        if (c && c->ended)
            child_free(c);
        else if (c)
            c->expected = true;
    }
}

void pvmi_output_forget_host(pvmc_tid host)
{
    struct child *c, *next;
    HASH_ITER (hh, children, c, next)
        if (pvmc_tid_host(c->tid) == pvmc_tid_host(host) && !c->ended)
            end(c);
}

static bool all_ended(void *arg)
{
    (void)arg;
    for (const struct child *c = children; c; c = c->hh.next)
        if (!c->ended)
            return false;
    return true;
}

int pvmi_output_drain(void)
{
    if (!sink || all_ended(NULL))
        return 0;
    if (pvmi_options.auto_err && pvmi_options.show_tids)
        fprintf(stderr, "libpvm [%s]: child task(s) still running.  waiting...\n", pvmi_identity());
    return pvmi_wait_until(all_ended, NULL, PVMI_WAIT_FOREVER);
}

void pvmi_output_clear(void)
{
    struct child *c, *next;
    HASH_ITER (hh, children, c, next) {
        flush_line(c);
        child_free(c);
    }
    sink = NULL;
}

__attribute__((destructor)) static void free_all(void)
{
    sink = NULL; /* stdio is about to end */
    pvmi_output_clear();
}

/* ---- public call ---- */

static int catch_output(FILE *file)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    if (!file && sink)
        fflush(sink);
    sink = file;
    pvmctrc.outtid = file ? (int)pvmi_task.tid : 0;
    pvmctrc.outctx = file ? PVMC_CTX_TC : 0;
    pvmctrc.outtag = file ? (int)PVMC_TC_OUTPUT : 0;
    return 0;
}

int pvm_catchout(FILE *file)
{
    PVMI_BEGIN(TEV_CATCHOUT, PVMI_LONG(FP, file));
    int rc = pvmi_return("pvm_catchout", catch_output(file));
    PVMI_END(TEV_CATCHOUT, PVMI_INT(CC, rc));
    return rc;
}
