/* links.c - see links.h. */
#include "links.h"
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include "core/visible.h"
#include "pvm3.h"
#include "whole.h"

enum {
    CONTEXT_CONTROL = 0x7ffff, /* of messages that libpvm handles itself */
    TAG_ROUTES = (int)0x80030040,
    FLAG_CONNECTED = 0x4, /* of ti_flag */
    PEERS_MAX = 1 << 20,
};

/* ---- asking ---- */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The request has the context and tag for the answer. */
int links_request(int tid, int context, int tag)
{
    int old_context = pvm_setcontext(CONTEXT_CONTROL), reserved = pvm_setopt(PvmResvTids, 1);
    int old_buffer = pvm_setsbuf(0);
    int code = pvm_initsend(PvmDataDefault);

    if (code >= 0)
        code = pvm_pkint(&context, 1, 1);
    if (code >= 0)
        code = pvm_pkint(&tag, 1, 1);
    if (code >= 0)
        code = pvm_send(tid, TAG_ROUTES);
    pvm_freebuf(pvm_setsbuf(old_buffer));
    pvm_setopt(PvmResvTids, reserved);
    pvm_setcontext(old_context);
    return code < 0 ? code : 0;
}

static void ask_if_possible(struct links_report *r, int context, int tag)
{
    struct pvmtaskinfo *task = NULL;
    int count = 0, code = pvm_tasks(r->tid, &count, &task);

    r->status = LINKS_LATE; /* until it answers */
    if (code == PvmNoTask || code == PvmNoHost || code == PvmBadParam || (code >= 0 && count == 0))
        r->status = LINKS_GONE;
    else if (code >= 0 && !(task[0].ti_flag & FLAG_CONNECTED))
        r->status = LINKS_STRANGE;
    else if (code < 0 || (code = links_request(r->tid, context, tag)) < 0)
        r->status = LINKS_FAILED;
    r->error = code;
}

/* ---- the answer ---- */

/* Reads a packed string: its length including the NUL, then its bytes. */
static bool read_text(char *text, int size)
{
    int length = 0;

    if (pvm_upkint(&length, 1, 1) < 0 || length < 1 || length > size || pvm_upkbyte(text, length, 1) < 0)
        return false;
    return text[length - 1] == '\0';
}

static bool read_traffic(struct links_traffic *t)
{
    long values[4];

    if (pvm_upklong(values, 4, 1) < 0)
        return false;
    *t = (struct links_traffic){values[0], values[1], values[2], values[3]};
    return true;
}

static bool read_peer(struct links_peer *p)
{
    int counts[3];

    if (pvm_upkint(&p->tid, 1, 1) < 0 || !read_text(p->route, sizeof(p->route)) || !read_traffic(&p->direct) ||
        !read_traffic(&p->daemon) || pvm_upkint(counts, 3, 1) < 0)
        return false;
    p->refused = counts[0];
    p->opened = counts[1];
    p->lost = counts[2];
    return true;
}

bool links_read(struct links_report *r)
{
    int n = 0;

    if (!read_text(r->choice, sizeof(r->choice)) || pvm_upkint(&r->option, 1, 1) < 0 || pvm_upkint(&n, 1, 1) < 0 ||
        n < 0 || n > PEERS_MAX)
        return false;
    r->peers = calloc((size_t)n + 1, sizeof(*r->peers));
    while (r->peers != NULL && r->count < n && read_peer(&r->peers[r->count]))
        r->count++;
    return r->count == n;
}

static int by_tid(const void *a, const void *b)
{
    int x = ((const struct links_peer *)a)->tid, y = ((const struct links_peer *)b)->tid;

    return x < y ? -1 : x > y;
}

static void take_answer(struct links_report *reports, int n, int mid)
{
    int tag, tid;

    pvm_bufinfo(mid, NULL, &tag, &tid);
    for (int i = 0; i < n; i++)
        if (reports[i].tid == tid && reports[i].status == LINKS_LATE) {
            struct links_report *r = &reports[i];
            r->status = links_read(r) ? LINKS_TOLD : LINKS_FAILED;
            r->error = r->status == LINKS_TOLD ? 0 : PvmBadMsg;
            qsort(r->peers, (size_t)r->count, sizeof(*r->peers), by_tid);
        }
}

static int late_ones(const struct links_report *reports, int n)
{
    int late = 0;

    for (int i = 0; i < n; i++)
        late += reports[i].status == LINKS_LATE;
    return late;
}

/* Receives answers in the current context. */
static void collect(struct links_report *reports, int n, int tag, double until_s)
{
    int old_buffer = pvm_setrbuf(0), mid = 1;

    while (late_ones(reports, n) > 0 && mid > 0) {
        double left_s = until_s - now_s();
        struct timeval limit = {0, 0};
        if (left_s > 0)
            limit = (struct timeval){(time_t)left_s, (suseconds_t)((left_s - (double)(time_t)left_s) * 1e6)};
        mid = pvm_trecv(-1, tag, &limit);
        if (mid > 0)
            take_answer(reports, n, mid);
    }
    pvm_freebuf(pvm_setrbuf(old_buffer));
}

/* Each request uses a new tag, so that a late answer is not taken for one to the next request. */
void links_ask(struct links_report *reports, int n, double limit_s)
{
    static int context, tag;
    int errors = pvm_setopt(PvmAutoErr, 0);

    if (context <= 0)
        context = pvm_newcontext();
    tag++;
    for (int i = 0; i < n; i++)
        reports[i] = (struct links_report){.tid = reports[i].tid, .status = LINKS_FAILED, .error = context};
    if (context > 0) {
        for (int i = 0; i < n; i++)
            ask_if_possible(&reports[i], context, tag);
        int old_context = pvm_setcontext(context);
        whole_begin();
        collect(reports, n, tag, now_s() + limit_s);
        whole_end();
        pvm_setcontext(old_context);
    }
    pvm_setopt(PvmAutoErr, errors);
}

void links_free(struct links_report *reports, int n)
{
    for (int i = 0; i < n; i++) {
        free(reports[i].peers);
        reports[i].peers = NULL;
        reports[i].count = 0;
    }
}

/* ---- printing ---- */

const char *links_excuse(const struct links_report *r, double limit_s)
{
    static char text[160];
    const char *error = r->error < 0 && r->error > -pvm_nerr ? pvm_errlist[-r->error] : "unknown error";

    switch (r->status) {
    case LINKS_TOLD:
        return "";
    case LINKS_LATE:
        snprintf(text, sizeof(text),
                 "t%x has not answered within %g s: it computes or is stopped; a task answers in its next call of PVM",
                 (unsigned)r->tid, limit_s);
        break;
    case LINKS_STRANGE:
        snprintf(text, sizeof(text), "t%x is not a PVM program, or has not called PVM yet", (unsigned)r->tid);
        break;
    case LINKS_GONE:
        snprintf(text, sizeof(text), "t%x: there is no such task", (unsigned)r->tid);
        break;
    case LINKS_FAILED:
        snprintf(text, sizeof(text), "t%x: %s", (unsigned)r->tid, error);
        break;
    }
    return text;
}

static const char *option_name(int option)
{
    return option == PvmDontRoute     ? "PvmDontRoute"
           : option == PvmAllowDirect ? "PvmAllowDirect"
           : option == PvmRouteDirect ? "PvmRouteDirect"
                                      : "?";
}

static void print_traffic(FILE *out, const char *peer, const char *route, const char *by, const struct links_traffic *t)
{
    fprintf(out, "%9s %-8s %-7s %10ld %14ld %10ld %14ld", peer, PVMC_VISIBLE(route), by, t->tx_frames, t->tx_bytes,
            t->rx_frames, t->rx_bytes);
}

static bool any(const struct links_traffic *t)
{
    return t->tx_frames != 0 || t->rx_frames != 0;
}

static void print_peer(FILE *out, const struct links_peer *p)
{
    char peer[16];
    bool direct = any(&p->direct) || p->opened != 0;

    snprintf(peer, sizeof(peer), "t%x", (unsigned)p->tid);
    if (direct) {
        print_traffic(out, peer, p->route, "direct", &p->direct);
        fprintf(out, " %8d %6d %5d\n", p->refused, p->opened, p->lost);
    }
    if (!direct || any(&p->daemon)) {
        print_traffic(out, direct ? "" : peer, direct ? "" : p->route, "daemon", &p->daemon);
        putc('\n', out);
    }
}

void links_print(FILE *out, const struct links_report *r)
{
    fprintf(out, "t%x: PVM_TRANSPORT=%s, %s, %d peer%s\n", (unsigned)r->tid, PVMC_VISIBLE(r->choice),
            option_name(r->option), r->count, r->count == 1 ? "" : "s");
    if (r->count == 0)
        return;
    fprintf(out, "%9s %-8s %-7s %10s %14s %10s %14s %8s %6s %5s\n", "PEER", "ROUTE", "BY", "SENT", "BYTES", "RECEIVED",
            "BYTES", "REFUSED", "OPENED", "LOST");
    for (int i = 0; i < r->count; i++)
        print_peer(out, &r->peers[i]);
}

static json_t *tid_json(int tid)
{
    char text[16];

    snprintf(text, sizeof(text), "t%x", (unsigned)tid);
    return json_string(text);
}

static json_t *traffic_json(const struct links_traffic *t)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "sent_frames", (json_int_t)t->tx_frames, "sent_bytes",
                     (json_int_t)t->tx_bytes, "received_frames", (json_int_t)t->rx_frames, "received_bytes",
                     (json_int_t)t->rx_bytes);
}

json_t *links_json(const struct links_report *r)
{
    json_t *peers = json_array();

    for (int i = 0; i < r->count; i++) {
        const struct links_peer *p = &r->peers[i];
        json_array_append_new(peers, json_pack("{s:o, s:s, s:o, s:o, s:i, s:i, s:i}", "tid", tid_json(p->tid), "route",
                                               p->route, "direct", traffic_json(&p->direct), "daemon",
                                               traffic_json(&p->daemon), "refused", p->refused, "links_opened",
                                               p->opened, "links_lost", p->lost));
    }
    json_t *choice = json_string(r->choice); /* NULL if it is not valid UTF-8 */
    return json_pack("{s:o, s:o, s:s, s:o}", "tid", tid_json(r->tid), "transport",
                     choice != NULL ? choice : json_string("?"), "option", option_name(r->option), "peers", peers);
}
