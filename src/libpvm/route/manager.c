/*
 * manager.c - see manager.h. For each question that a manager can answer, a row translates it from the daemon's form.
 */
#include "manager.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmproto.h"
#include "send.h"
#include "libpvm/base/task.h"

/* ---- questions: from the daemon's fields to packed values ---- */

/* The first error stays. */
struct writer {
    struct pvmc_message *m;
    int rc;
};

static void put_int(struct writer *w, int value)
{
    if (!w->rc)
        w->rc = pvmc_message_pack(w->m, PVM_INT, &value, 1, 1);
}

static void put_text(struct writer *w, const char *text)
{
    if (!w->rc)
        w->rc = text ? pvmc_message_pack_string(w->m, text) : PVMC_ENOMEM;
}

static void put_variable(struct writer *w, const char *format, const char *text, int value)
{
    char *variable = NULL;
    if (asprintf(&variable, format, text ? text : "", value) < 0)
        variable = NULL;
    put_text(w, variable);
    free(variable);
}

static void copy_int(struct writer *w, struct pvmc_buf *b)
{
    put_int(w, pvmc_buf_get_i32(b));
}

static void copy_text(struct writer *w, struct pvmc_buf *b)
{
    char *text = pvmc_buf_get_string(b);
    put_text(w, text);
    free(text);
}

static void copy_texts(struct writer *w, struct pvmc_buf *b, uint32_t count)
{
    while (count-- && !pvmc_buf_error(b))
        copy_text(w, b);
}

/* TM_ADDHOSTS, TM_DELHOSTS */
static void write_names(struct writer *w, struct pvmc_buf *b)
{
    uint32_t count = pvmc_buf_get_u32(b);
    put_int(w, (int)count);
    copy_texts(w, b, count);
}

static void write_nothing(struct writer *w, struct pvmc_buf *b)
{
    (void)w, (void)b;
}

/* TM_TASKS */
static void write_int(struct writer *w, struct pvmc_buf *b)
{
    copy_int(w, b);
}

/* Settings for which the daemon has fields, and PVM 3.4 environment variables. */
static void write_settings(struct writer *w, struct pvmc_buf *b, uint32_t context)
{
    char *mask = pvmc_buf_get_string(b);
    int buffer = pvmc_buf_get_i32(b), options = pvmc_buf_get_i32(b);
    put_variable(w, "PVMTMASK=%s", mask, 0);
    put_variable(w, "PVMTRCBUF=%s%d", "", buffer);
    put_variable(w, "PVMTRCOPT=%s%d", "", options);
    put_variable(w, "PVMCTX=%s0x%x", "", (int)context);
    free(mask);
}

/* TM_SPAWN: the same fields in another order, the environment last. */
static void write_spawn(struct writer *w, struct pvmc_buf *b)
{
    copy_text(w, b);
    uint32_t argc = pvmc_buf_get_u32(b);
    struct pvmc_buf arguments = *b;
    for (uint32_t i = 0; i < argc; i++)
        free(pvmc_buf_get_string(b));
    put_int(w, (int)(pvmc_buf_get_u32(b) & ~(uint32_t)PVMC_SPAWN_WHY)); /* which a manager does not know */
    copy_text(w, b);
    copy_int(w, b);
    put_int(w, (int)argc);
    copy_texts(w, &arguments, argc);
    uint32_t variables = pvmc_buf_get_u32(b);
    struct pvmc_buf environment = *b;
    for (uint32_t i = 0; i < variables; i++)
        free(pvmc_buf_get_string(b));
    uint32_t context = pvmc_buf_get_u32(b);
    for (int i = 0; i < 6; i++)
        copy_int(w, b); /* destinations of output and traces */
    put_int(w, 4 + (int)variables);
    write_settings(w, b, context);
    copy_texts(w, &environment, variables);
}

/* TM_NOTIFY: context before tag; a list of tasks or hosts, or a count of events. */
static void write_notify(struct writer *w, struct pvmc_buf *b)
{
    int what = pvmc_buf_get_i32(b), tag = pvmc_buf_get_i32(b), context = pvmc_buf_get_i32(b);
    int count = pvmc_buf_get_i32(b), tids = pvmc_buf_get_i32(b);
    put_int(w, what);
    put_int(w, context);
    put_int(w, tag);
    put_int(w, count);
    while (tids-- > 0)
        copy_int(w, b);
}

/* ---- answers: from packed values to the daemon's fields ---- */

struct reader {
    struct pvmc_message *m;
    int rc;
};

static int get_int(struct reader *r)
{
    int value = 0;
    if (!r->rc)
        r->rc = pvmc_message_unpack(r->m, PVM_INT, &value, 1, 1);
    return r->rc ? 0 : value;
}

static void read_text(struct reader *r, struct pvmc_buf *b)
{
    int64_t bytes = r->rc ? 0 : pvmc_message_string_bytes(r->m);
    if (bytes < 0)
        r->rc = (int)bytes;
    char *text = r->rc ? NULL : malloc((size_t)bytes);
    if (!r->rc)
        r->rc = text ? pvmc_message_unpack_string(r->m, text, (size_t)bytes) : PVMC_ENOMEM;
    if (!r->rc)
        pvmc_buf_put_string(b, text);
    free(text);
}

/* A count of things of at least 4 bytes each. */
static uint32_t get_count(struct reader *r, int count)
{
    if (!r->rc && (count < 0 || (uint64_t)count > r->m->length / 4))
        r->rc = PVMC_EFORMAT;
    return r->rc ? 0 : (uint32_t)count;
}

/* Tids or errors, one for each item of the question. Returns the number of successes. */
static int read_results(struct reader *r, int n, struct pvmc_buf *b)
{
    uint32_t count = get_count(r, n);
    int good = 0;
    pvmc_buf_put_u32(b, count);
    for (uint32_t i = 0; i < count; i++) {
        int result = get_int(r);
        pvmc_buf_put_i32(b, result);
        good += result >= 0;
    }
    return good;
}

static int read_code(struct reader *r, int code, struct pvmc_buf *b)
{
    (void)r, (void)b;
    return code;
}

/* The number of data formats comes second and is skipped: the library counts them itself. */
static int read_hosts(struct reader *r, int n, struct pvmc_buf *b)
{
    uint32_t count = get_count(r, n);
    get_int(r);
    pvmc_buf_put_u32(b, count);
    for (uint32_t i = 0; i < count && !r->rc; i++) {
        pvmc_buf_put_i32(b, get_int(r));
        read_text(r, b);
        read_text(r, b);
        pvmc_buf_put_i32(b, get_int(r));
        pvmc_buf_put_i32(b, get_int(r));
    }
    return 0;
}

/* The same rows. A manager has no field for the reason why a host was not added. */
static int read_added(struct reader *r, int n, struct pvmc_buf *b)
{
    struct pvmc_buf rest;
    uint32_t count = get_count(r, n);
    int good = 0;
    get_int(r);
    pvmc_buf_put_u32(b, count);
    pvmc_buf_init(&rest);
    for (uint32_t i = 0; i < count && !r->rc; i++) {
        int status = get_int(r);
        good += status >= 0;
        pvmc_buf_put_i32(b, status);
        read_text(r, &rest);
        read_text(r, &rest);
        get_int(r);
        get_int(r);
    }
    pvmc_buf_free(&rest);
    for (uint32_t i = 0; i < count; i++)
        pvmc_buf_put_string(b, "");
    return good;
}

/* Rows to the end of the message. */
static int read_tasks(struct reader *r, int first, struct pvmc_buf *b)
{
    struct pvmc_buf rows;
    uint32_t count = 0;
    (void)first;
    pvmc_buf_init(&rows);
    for (; !r->rc && r->m->position < r->m->length; count++) {
        for (int i = 0; i < 4; i++)
            pvmc_buf_put_i32(&rows, get_int(r)); /* task, parent, host, flags */
        read_text(r, &rows);
        pvmc_buf_put_i32(&rows, get_int(r));
    }
    pvmc_buf_put_u32(b, count);
    pvmc_buf_put_bytes(b, rows.data, rows.length);
    pvmc_buf_free(&rows);
    return 0;
}

/* Our daemon tells the new tasks of each other, but does not know of a spawn that the manager performed. */
static void tell_siblings(struct pvmc_message *m)
{
    struct reader r = {.m = m};
    struct pvmc_buf body, tids;
    uint32_t started = 0;
    m->position = 0;
    pvmc_buf_init(&tids);
    for (int left = get_int(&r); left > 0 && !r.rc; left--) {
        int tid = get_int(&r);
        if (tid <= 0)
            continue;
        pvmc_buf_put_i32(&tids, tid);
        started++;
    }
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, started);
    pvmc_buf_put_bytes(&body, tids.data, tids.length);
    pvmc_buf_free(&tids);
    if (started)
        pvmi_request_one_way(PVMC_TM_SIBLINGS, &body);
    else
        pvmc_buf_free(&body);
}

static int read_spawned(struct reader *r, int n, struct pvmc_buf *b)
{
    int started = read_results(r, n, b);
    if (!r->rc)
        tell_siblings(r->m);
    return started;
}

/* ---- the table ---- */

static const struct row {
    int asks_daemon, asks_manager;
    void (*write)(struct writer *w, struct pvmc_buf *b);
    int (*read)(struct reader *r, int first, struct pvmc_buf *b); /* returns the code; NULL: there is no answer */
} rows[] = {
    {(int)PVMC_TM_SPAWN, SM_SPAWN, write_spawn, read_spawned},
    {(int)PVMC_TM_CONFIG, SM_CONFIG, write_nothing, read_hosts},
    {(int)PVMC_TM_TASKS, SM_TASK, write_int, read_tasks},
    {(int)PVMC_TM_ADDHOSTS, SM_ADDHOST, write_names, read_added},
    {(int)PVMC_TM_DELHOSTS, SM_DELHOST, write_names, read_results},
    {(int)PVMC_TM_NOTIFY, SM_NOTIFY, write_notify, NULL},
    {(int)PVMC_TM_REGISTER, SM_SCHED, write_nothing, read_code},
};

/* The manager is asked only about its own registration, and not about events that the library itself wants. */
static bool concerns_manager(int tag, struct pvmc_buf body)
{
    if (tag == (int)PVMC_TM_REGISTER)
        return pvmc_buf_get_u8(&body) == PVMC_ROLE_RM && pvmc_buf_get_u8(&body);
    if (tag == (int)PVMC_TM_NOTIFY)
        return pvmc_buf_get_u32(&body) && pvmc_buf_get_i32(&body) != (int)PVMC_TC_ENDED;
    return true;
}

static const struct row *row_of(int tag, const struct pvmc_buf *body)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].asks_daemon == tag)
            return !body || concerns_manager(tag, *body) ? &rows[i] : NULL;
    return NULL;
}

static int ask(const struct row *row, const struct pvmc_buf *body, struct pvmc_message **reply)
{
    struct pvmc_buf view;
    struct writer w = {.m = pvmc_message_new(PVMC_ENC_DEFAULT)};
    *reply = NULL;
    if (!w.m)
        return PVMC_ENOMEM;
    pvmc_buf_view(&view, body ? body->data : NULL, body ? body->length : 0);
    row->write(&w, &view);
    w.m->tag = row->asks_manager;
    if (!w.rc)
        w.rc = pvmi_request_manager(w.m, row->read ? reply : NULL);
    pvmc_message_unref(w.m);
    return w.rc;
}

/* Converts the reply to the form of the daemon's answer. Returns the code. */
static int translate(const struct row *row, struct pvmc_message *reply, struct pvmi_answer *answer)
{
    struct pvmc_buf b;
    struct reader r = {.m = reply};
    int first = reply ? get_int(&r) : 0, code = first;
    pvmc_buf_init(&b);
    if (reply && !r.rc && first >= 0)
        code = row->read(&r, first, &b);
    if (!r.rc)
        r.rc = pvmc_buf_error(&b);
    if (r.rc)
        pvmc_log(PVMC_LOG_ERROR, "the resource manager's answer %#x is malformed: %s", (unsigned)row->asks_manager,
                 pvmc_error_text(r.rc));
    if (!r.rc && answer) {
        answer->m = pvmc_message_new(PVMC_ENC_DEFAULT);
        r.rc = answer->m ? pvmc_message_pack_bytes(answer->m, b.data, b.length) : PVMC_ENOMEM;
        if (!r.rc)
            pvmc_buf_view(&answer->body, answer->m->mem ? answer->m->mem->data : NULL, answer->m->length);
    }
    pvmc_buf_free(&b);
    return r.rc ? r.rc : code;
}

bool pvmi_manager_request(int tag, struct pvmc_buf *body, struct pvmi_answer *answer, int *code)
{
    const struct row *row = row_of(tag, body);
    struct pvmc_message *reply;
    if (!row)
        return false;
    int rc = ask(row, body, &reply);
    if (rc == PVMC_EUNREACHABLE)
        return false;
    if (answer)
        *answer = (struct pvmi_answer){0};
    *code = rc ? rc : translate(row, reply, answer);
    pvmc_message_unref(reply);
    if (body)
        pvmc_buf_free(body);
    return true;
}

void pvmi_manager_set(struct pvmc_message *m)
{
    struct pvmc_buf body;
    pvmc_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    pvmc_tid tid = pvmc_buf_get_u32(&body);
    if (pvmc_buf_end(&body))
        pvmc_log(PVMC_LOG_WARNING, "ignored a malformed message %#x from the daemon", (unsigned)m->tag);
    else
        pvmi_task.manager = tid == pvmi_task.tid ? 0 : tid;
}
