/*
 * scheduler - a resource manager that places tasks on the hosts in turn, whichever task spawns them.
 *
 * A resource manager is a task to which other tasks send their requests instead of to the daemon: to list hosts and
 * tasks, add and delete hosts, request notices, and start tasks. It answers with the tag and wait id of the request. It
 * sends requests to daemons itself: SM_EXEC starts tasks on one host, SM_ADD adds hosts. Daemons report all tasks that
 * start and end (SM_EXECACK without wait id, SM_TASKX) and hosts that leave (SM_HOSTX). man pvm_reg_rm describes the
 * fields of all messages.
 *
 * Shows   pvm_reg_rm and its messages, concurrent requests, messages in another task's context.
 * Build   cc -o scheduler scheduler.c $(pkg-config --cflags --libs pvm3)
 * Run     ./scheduler
 *         before the tasks that it serves: they learn of it when they enrol. It runs until it is killed.
 * Prints  a line for each task that it places, that starts and that ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pvm3.h>
#include <pvmproto.h>

enum { HOSTS_MAX = 1024, TEXTS_MAX = 1024, TEXT_BYTES = 65536 };

/* ---- hosts, in turn ---- */

static struct pvmhostinfo *hosts;
static int host_count, next_host; /* next_host: the host that had the last turn */

static void look_at_hosts(void)
{
    if (pvm_config(&host_count, NULL, &hosts) < 0)
        exit(1);
    if (host_count > HOSTS_MAX)
        host_count = HOSTS_MAX;
}

static int fits(const struct pvmhostinfo *host, int flags, const char *where)
{
    int fit = flags & PvmTaskHost   ? !strcmp(host->hi_name, where)
              : flags & PvmTaskArch ? !strcmp(host->hi_arch, where)
                                    : 1;
    return flags & PvmHostCompl && flags & (PvmTaskHost | PvmTaskArch) ? !fit : fit;
}

/* Distributes `count` tasks over the hosts. 0: no host fits. */
static int deal(int flags, const char *where, int count, int *shares)
{
    int dealt = 0;
    memset(shares, 0, HOSTS_MAX * sizeof *shares);
    for (int tries = 0; dealt < count && tries < host_count; tries++) {
        next_host = (next_host + 1) % host_count;
        if (!fits(&hosts[next_host], flags, where))
            continue;
        shares[next_host]++;
        dealt++;
        tries = -1; /* it fits: try all hosts again for the next task */
    }
    return dealt;
}

/* ---- messages ---- */

/* Sends the active send buffer to a task or daemon, with a wait id. */
static void send_with(int to, int tag, int wait_id)
{
    struct pvmminfo header;
    pvm_getminfo(pvm_getsbuf(), &header);
    header.wid = wait_id;
    pvm_setminfo(pvm_getsbuf(), &header);
    pvm_send(to, tag);
}

static void answer_code(int to, int tag, int wait_id, int code)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&code, 1, 1);
    send_with(to, tag, wait_id);
}

static char *unpack_text(void)
{
    static char text[TEXT_BYTES];
    return pvm_upkstr(text) < 0 ? NULL : strdup(text);
}

/* Unpacks a count and that many texts. */
static int unpack_texts(char **texts)
{
    int n = 0, kept = 0;
    pvm_upkint(&n, 1, 1);
    for (int i = 0; i < n; i++) {
        char *text = unpack_text();
        if (text && kept < TEXTS_MAX)
            texts[kept++] = text;
        else
            free(text);
    }
    return kept;
}

static void pack_texts(char **texts, int n)
{
    pvm_pkint(&n, 1, 1);
    for (int i = 0; i < n; i++)
        pvm_pkstr(texts[i]);
}

static void free_texts(char **texts, int n)
{
    while (n > 0)
        free(texts[--n]);
}

/* ---- starting tasks ---- */

/* A pvm_spawn() in progress. */
struct job {
    int asker, wait_id;
    int count, done, open; /* tasks wanted; results so far; hosts that have not answered */
    int *results;
    struct job *next;
};

/* The part of a job on one host, by the wait id of SM_EXEC. */
struct part {
    int wait_id, count;
    struct job *job;
    struct part *next;
};

static struct part *parts;
static int last_wait_id;

/* Started tasks first, as in the result of pvm_spawn(). */
static void finish(struct job *job)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&job->count, 1, 1);
    for (int errors = 0; errors < 2; errors++)
        for (int i = 0; i < job->count; i++)
            if ((job->results[i] <= 0) == errors)
                pvm_pkint(&job->results[i], 1, 1);
    send_with(job->asker, SM_SPAWN, job->wait_id);
    free(job->results);
    free(job);
}

/* The fields of SM_SPAWN. */
struct order {
    char *file, *where, *argv[TEXTS_MAX], *environment[TEXTS_MAX];
    int flags, count, argc, variables;
    int destinations[6]; /* of output and traces: task, context, tag of each */
};

static void read_order(struct order *o)
{
    o->file = unpack_text();
    pvm_upkint(&o->flags, 1, 1);
    o->where = unpack_text();
    pvm_upkint(&o->count, 1, 1);
    o->argc = unpack_texts(o->argv);
    pvm_upkint(o->destinations, 6, 1);
    o->variables = unpack_texts(o->environment);
}

static void free_order(struct order *o)
{
    free(o->file);
    free(o->where);
    free_texts(o->argv, o->argc);
    free_texts(o->environment, o->variables);
}

static void ask_host(const struct pvmhostinfo *host, struct order *o, struct job *job, int first, int share)
{
    struct part *part = malloc(sizeof *part);
    if (!part)
        exit(1);
    *part = (struct part){.wait_id = ++last_wait_id, .count = share, .job = job, .next = parts};
    parts = part;
    job->open++;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&job->asker, 1, 1); /* the parent */
    pvm_pkstr(o->file);
    pvm_pkint(&o->flags, 1, 1);
    pvm_pkint(&share, 1, 1);
    pack_texts(o->argv, o->argc);
    pvm_pkint(o->destinations, 6, 1);
    pack_texts(o->environment, o->variables);
    pvm_pkint(&first, 1, 1);
    pvm_pkint(&o->count, 1, 1);
    send_with((int)(0x80000000u | (unsigned)host->hi_tid), SM_EXEC, part->wait_id);
    printf("scheduler: %d of %s to %s for t%x\n", share, o->file, host->hi_name, job->asker);
}

static void take_spawn(int asker, int wait_id)
{
    static int shares[HOSTS_MAX];
    struct order o = {0};
    struct job *job = calloc(1, sizeof *job);
    int first = 0;
    read_order(&o);
    look_at_hosts();
    if (!job || !o.file || !o.where || o.count < 1 || !(job->results = calloc((size_t)o.count, sizeof(int)))) {
        answer_code(asker, SM_SPAWN, wait_id, PvmBadParam);
        free(job);
        free_order(&o);
        return;
    }
    job->asker = asker;
    job->wait_id = wait_id;
    job->count = o.count;
    for (int i = 0; i < o.count; i++)
        job->results[i] = PvmNoHost;
    deal(o.flags, o.where, o.count, shares);
    for (int i = 0; i < host_count; i++)
        if (shares[i]) {
            ask_host(&hosts[i], &o, job, first, shares[i]);
            first += shares[i];
        }
    free_order(&o);
    if (!job->open)
        finish(job);
}

/* Handles tids or errors from one host; without a wait id, a program that was started by hand. */
static void take_started(int wait_id)
{
    struct part **link = &parts, *part;
    int n = 0, tid;
    pvm_upkint(&n, 1, 1);
    while (*link && (*link)->wait_id != wait_id)
        link = &(*link)->next;
    part = wait_id ? *link : NULL;
    for (int i = 0; i < n && pvm_upkint(&tid, 1, 1) == 0; i++) {
        if (part && part->job->done < part->job->count)
            part->job->results[part->job->done++] = tid;
        if (tid > 0)
            printf("scheduler: t%x has come\n", tid);
    }
    if (!part)
        return;
    *link = part->next;
    if (!--part->job->open)
        finish(part->job);
    free(part);
}

/* ---- lists of hosts and tasks ---- */

static void take_config(int asker, int wait_id)
{
    int formats = 1; /* libpvm counts them itself */
    look_at_hosts();
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&host_count, 1, 1);
    pvm_pkint(&formats, 1, 1);
    for (int i = 0; i < host_count; i++) {
        pvm_pkint(&hosts[i].hi_tid, 1, 1);
        pvm_pkstr(hosts[i].hi_name);
        pvm_pkstr(hosts[i].hi_arch);
        pvm_pkint(&hosts[i].hi_speed, 1, 1);
        pvm_pkint(&hosts[i].hi_dsig, 1, 1);
    }
    send_with(asker, SM_CONFIG, wait_id);
}

static void take_tasks(int asker, int wait_id)
{
    struct pvmtaskinfo *list;
    int where = 0, n = 0, zero = 0, code;
    pvm_upkint(&where, 1, 1);
    code = pvm_tasks(where, &n, &list);
    if (code < 0) {
        answer_code(asker, SM_TASK, wait_id, code);
        return;
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&zero, 1, 1);
    for (int i = 0; i < n; i++) {
        pvm_pkint(&list[i].ti_tid, 1, 1);
        pvm_pkint(&list[i].ti_ptid, 1, 1);
        pvm_pkint(&list[i].ti_host, 1, 1);
        pvm_pkint(&list[i].ti_flag, 1, 1);
        pvm_pkstr(list[i].ti_a_out);
        pvm_pkint(&list[i].ti_pid, 1, 1);
    }
    send_with(asker, SM_TASK, wait_id);
}

/* ---- notification ---- */

struct wish {
    int what, task, tag, context; /* the event; receiver, tag and context of the notice */
    int about, count;             /* a task or host; for HostAdd, remaining notices */
    struct wish *next;
};

static struct wish *wishes;

static void notify(const struct wish *w, int tid)
{
    int n = 1, context = pvm_setcontext(w->context);
    pvm_initsend(PvmDataDefault);
    if (w->what == PvmHostAdd)
        pvm_pkint(&n, 1, 1);
    pvm_pkint(&tid, 1, 1);
    pvm_send(w->task, w->tag);
    pvm_setcontext(context);
}

/* Sends the notices that were requested for an event. */
static void tell(int what, int tid)
{
    struct wish **link = &wishes, *w;
    while ((w = *link)) {
        int due = w->what == what && (what == PvmHostAdd || w->about == tid);
        if (due)
            notify(w, tid);
        if (due && (what != PvmHostAdd || (w->count > 0 && !--w->count))) {
            *link = w->next;
            free(w);
        } else {
            link = &w->next;
        }
    }
}

/* Drops the requests of a task that has ended. */
static void forget_wishes_of(int task)
{
    for (struct wish **link = &wishes, *w; (w = *link);)
        if (w->task == task) {
            *link = w->next;
            free(w);
        } else {
            link = &w->next;
        }
}

static int is_there(int what, int tid)
{
    if (what == PvmTaskExit)
        return pvm_pstat(tid) == PvmOk;
    look_at_hosts();
    for (int i = 0; i < host_count; i++)
        if (hosts[i].hi_tid == tid)
            return 1;
    return 0;
}

static void add_wish(struct wish wish, int cancels)
{
    struct wish *w;
    if (cancels || (wish.what != PvmHostAdd && !is_there(wish.what, wish.about))) {
        for (struct wish **link = &wishes; cancels && (w = *link); link = &w->next)
            if (w->task == wish.task && w->what == wish.what && w->about == wish.about && w->tag == wish.tag) {
                *link = w->next;
                free(w);
                break;
            }
        if (wish.what != PvmHostAdd)
            notify(&wish, wish.about);
        return;
    }
    if (!(w = malloc(sizeof *w)))
        exit(1);
    *w = wish;
    w->next = wishes;
    wishes = w;
}

static void take_notify(int asker)
{
    int head[4] = {0}, tid; /* what, context, tag, count */
    if (pvm_upkint(head, 4, 1) < 0)
        return;
    struct wish wish = {
        .what = head[0] & ~PvmNotifyCancel, .task = asker, .tag = head[2], .context = head[1], .count = head[3]};
    if (wish.what == PvmHostAdd && head[3])
        add_wish(wish, head[0] & PvmNotifyCancel);
    for (int i = 0; wish.what != PvmHostAdd && i < head[3] && pvm_upkint(&tid, 1, 1) == 0; i++) {
        wish.about = tid;
        add_wish(wish, head[0] & PvmNotifyCancel);
    }
}

/* ---- hosts that join and leave ---- */

/* Requests that wait for SM_ADDACK. */
static struct {
    int asker, wait_id;
} adding[HOSTS_MAX]; /* by the wait id of SM_ADD modulo HOSTS_MAX */

static void take_add(int asker, int wait_id)
{
    char *names[TEXTS_MAX];
    int n = unpack_texts(names), id = ++last_wait_id;
    adding[id % HOSTS_MAX].asker = asker;
    adding[id % HOSTS_MAX].wait_id = wait_id;
    pvm_initsend(PvmDataDefault);
    pack_texts(names, n);
    send_with((int)0x80000000u, SM_ADD, id);
    free_texts(names, n);
}

/* Forwards the fields to the task that asked: status, name, architecture, speed and format of each host. */
static void take_added(int wait_id)
{
    int n, formats, numbers[3];
    static char text[TEXT_BYTES];
    pvm_initsend(PvmDataDefault);
    pvm_upkint(&n, 1, 1);
    pvm_upkint(&formats, 1, 1);
    pvm_pkint(&n, 1, 1);
    pvm_pkint(&formats, 1, 1);
    int *added = calloc((size_t)(n > 0 ? n : 1), sizeof *added);
    for (int i = 0; added && i < n; i++) {
        pvm_upkint(&added[i], 1, 1);
        pvm_pkint(&added[i], 1, 1);
        for (int j = 0; j < 2; j++) {
            pvm_upkstr(text);
            pvm_pkstr(text);
        }
        pvm_upkint(numbers, 2, 1);
        pvm_pkint(numbers, 2, 1);
    }
    send_with(adding[wait_id % HOSTS_MAX].asker, SM_ADDHOST, adding[wait_id % HOSTS_MAX].wait_id);
    for (int i = 0; added && i < n; i++)
        if (added[i] > 0)
            tell(PvmHostAdd, added[i]);
    free(added);
}

static void take_delete(int asker, int wait_id)
{
    char *names[TEXTS_MAX];
    int n = unpack_texts(names), *status = calloc((size_t)n + 1, sizeof *status);
    int code = status ? pvm_delhosts(names, n, status) : PvmNoMem;
    if (code < 0) {
        answer_code(asker, SM_DELHOST, wait_id, code);
    } else {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&n, 1, 1);
        pvm_pkint(status, n, 1);
        send_with(asker, SM_DELHOST, wait_id);
    }
    free(status);
    free_texts(names, n);
}

/* ---- the main loop ---- */

static void take_end(int what)
{
    int tid = 0;
    pvm_upkint(&tid, 1, 1);
    printf("scheduler: %s%x has gone\n", what == PvmTaskExit ? "t" : "host ", tid);
    tell(what, tid);
    if (what == PvmTaskExit)
        forget_wishes_of(tid);
}

static void take(int message)
{
    struct pvmminfo header;
    pvm_getminfo(message, &header);
    switch (header.tag) {
    case SM_SPAWN:
        take_spawn(header.src, header.wid);
        break;
    case SM_EXECACK:
        take_started(header.wid);
        break;
    case SM_CONFIG:
        take_config(header.src, header.wid);
        break;
    case SM_TASK:
        take_tasks(header.src, header.wid);
        break;
    case SM_ADDHOST:
        take_add(header.src, header.wid);
        break;
    case SM_ADDACK:
        take_added(header.wid);
        break;
    case SM_DELHOST:
        take_delete(header.src, header.wid);
        break;
    case SM_NOTIFY:
        take_notify(header.src);
        break;
    case SM_TASKX:
        take_end(PvmTaskExit);
        break;
    case SM_HOSTX:
        take_end(PvmHostDelete);
        break;
    case SM_SCHED: /* a resource manager is already registered and stays */
        answer_code(header.src, SM_SCHED, header.wid, PvmAlready);
        break;
    }
}

int main(void)
{
    int message;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pvm_mytid() < 0 || pvm_reg_rm(&hosts) < 0)
        return 1;
    pvm_setopt(PvmResvTids, 1); /* required to send SM messages */
    printf("scheduler: ready\n");
    while ((message = pvm_recv(-1, -1)) > 0)
        take(message);
    return 1;
}
