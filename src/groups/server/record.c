#include "record.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/visible.h"
#include "groups/proto.h"
#include "calls.h"
#include "pvm3.h"

/*
 * An entry is an array of ints: its length, a head, the name's bytes, `members` rows, `lists` lists {generation, size,
 * instances, tids}, and `runs` of calls in progress {first number, count, generation of their list}. The list of a
 * group that is not frozen follows from its members.
 */
enum head {
    VERSION,
    ID,
    GENERATION,
    FROZEN,
    BROKEN,
    FIRST_LOSS,
    CALLS,
    DEATHS,
    VACANT,
    EPOCH,
    PENDING_FAILURES,
    PENDING_CODE,
    NAME_BYTES,
    MEMBERS,
    LISTS,
    RUNS,
    HEAD_INTS
};
enum row { TID, INSTANCE, ENTERED, CONFIRMED, TOLD_FAILURE, TOLD_DEATHS, ANSWERED, ANSWER, ROW_INTS };

enum {
    THIS_VERSION = 1,
    NUMBER_MAX = INT_MAX / 2, /* of ids and generations: room for those to come */
    FLAGS = PvmMboxPersistent | PvmMboxOverWritable,
};

static void entry_name(char name[32], int id)
{
    snprintf(name, 32, "%s%d", PVMG_GROUP_RECORD_CLASS, id);
}

/* ---- writing ---- */

struct writer {
    int *ints;
    size_t n, capacity;
    bool failed; /* out of memory */
};

/* Room for n more ints; NULL: out of memory. */
static int *extend(struct writer *w, size_t n)
{
    if (w->n + n > w->capacity) {
        size_t more = 2 * (w->n + n);
        int *bigger = realloc(w->ints, more * sizeof(*bigger));

        if (!bigger) {
            w->failed = true;
            return NULL;
        }
        w->ints = bigger;
        w->capacity = more;
    }
    w->n += n;
    return w->ints + w->n - n;
}

static void write_ints(struct writer *w, const int *ints, size_t n)
{
    int *to = extend(w, n);

    if (to)
        memcpy(to, ints, n * sizeof(*ints));
}

static void write_name(struct writer *w, const char *name)
{
    size_t length = strlen(name);
    int *to = extend(w, length);

    for (size_t i = 0; to && i < length; i++)
        to[i] = (unsigned char)name[i];
}

static void write_members(struct writer *w, const struct group *g)
{
    for (unsigned i = 0; i < g->span; i++) {
        const struct member *m = g->slots[i];
        if (!m)
            continue;
        int row[ROW_INTS] = {
            [TID] = m->tid,
            [INSTANCE] = m->instance,
            [ENTERED] = m->calls,
            [CONFIRMED] = m->confirmed,
            [TOLD_FAILURE] = m->told_failure,
            [TOLD_DEATHS] = m->told_deaths,
            [ANSWERED] = m->answered,
            [ANSWER] = m->answer,
        };
        write_ints(w, row, ROW_INTS);
    }
}

static void write_list(struct writer *w, const struct list *l)
{
    int head[] = {l->generation, l->size};

    write_ints(w, head, 2);
    write_ints(w, l->instances, (size_t)l->size);
    write_ints(w, l->tids, (size_t)l->size);
}

/* Calls that follow one another with the same participants are one run. */
static const struct call *end_of_run(const struct call *c)
{
    while (c->next && c->next->list == c->list && c->next->number == c->number + 1)
        c = c->next;
    return c;
}

/* The lists that do not follow from the members; returns their number. A list is in use without interruption. */
static int write_lists(struct writer *w, const struct group *g)
{
    const struct list *last = g->frozen ? NULL : g->list;
    int n = 0;

    for (const struct call *c = g->in_progress; c; c = c->next) {
        if (c->list == g->list || c->list == last)
            continue;
        write_list(w, last = c->list);
        n++;
    }
    if (g->frozen) {
        write_list(w, g->list);
        n++;
    }
    return n;
}

static int write_runs(struct writer *w, const struct group *g)
{
    int n = 0;

    for (const struct call *c = g->in_progress, *end; c; c = end->next, n++) {
        end = end_of_run(c);
        int run[] = {c->number, end->number - c->number + 1, c->list->generation};
        write_ints(w, run, 3);
    }
    return n;
}

static void write_group(struct writer *w, const struct group *g)
{
    int head[HEAD_INTS] = {
        [VERSION] = THIS_VERSION,
        [ID] = g->id,
        [GENERATION] = g->list->generation,
        [FROZEN] = g->frozen,
        [BROKEN] = g->broken,
        [FIRST_LOSS] = g->first_loss,
        [CALLS] = g->calls,
        [DEATHS] = g->deaths,
        [VACANT] = g->vacant,
        [EPOCH] = g->epoch,
        [PENDING_FAILURES] = g->pending_failures,
        [PENDING_CODE] = g->pending_code,
        [NAME_BYTES] = (int)strlen(g->name),
        [MEMBERS] = g->size,
    };

    if (!extend(w, HEAD_INTS))
        return;
    write_name(w, g->name);
    write_members(w, g);
    head[LISTS] = write_lists(w, g);
    head[RUNS] = write_runs(w, g);
    memcpy(w->ints, head, sizeof(head));
}

static int put(const struct writer *w, int id)
{
    char name[32];
    int buffer = pvm_mkbuf(PvmDataDefault), length = (int)w->n, code = buffer;

    if (buffer < 0)
        return buffer;
    int active = pvm_setsbuf(buffer);
    entry_name(name, id);
    code = pvm_pkint(&length, 1, 1);
    if (code >= 0)
        code = pvm_pkint(w->ints, length, 1);
    if (code >= 0)
        code = pvm_putinfo(name, buffer, FLAGS);
    pvm_setsbuf(active);
    pvm_freebuf(buffer);
    return code;
}

/* The writer keeps its memory. */
static int record(struct writer *w, struct group *g)
{
    w->n = 0;
    w->failed = false;
    if (!pvmg_roster_list(g))
        return PvmNoMem;
    write_group(w, g);
    return w->failed ? PvmNoMem : put(w, g->id);
}

void pvmg_record_changes(void)
{
    static struct writer w;
    static bool told;

    for (struct group *g; (g = pvmg_roster_take_changed());) {
        int code = record(&w, g);

        if (code >= 0) {
            g->recorded = true;
            continue;
        }
        pvmg_record_erase(g); /* an old record would be wrong */
        if (!told)
            fprintf(stderr, "pvmgs: the mailbox cannot take group \"%s\" (%s): it would not survive this server\n",
                    PVMC_VISIBLE(g->name), pvm_errlist[-code]);
        told = true;
    }
}

void pvmg_record_erase(struct group *g)
{
    char name[32];

    if (!g->recorded)
        return;
    entry_name(name, g->id);
    pvm_delinfo(name, 0, PvmMboxDefault);
    g->recorded = false;
}

/* ---- reading ---- */

struct reader {
    const int *at;
    size_t left;
};

/* The next n ints; NULL if there are not as many. */
static const int *read_ints(struct reader *r, int n)
{
    const int *ints = r->at;

    if (n < 0 || (size_t)n > r->left)
        return NULL;
    r->at += n;
    r->left -= (size_t)n;
    return ints;
}

static bool is_number(int number)
{
    return number >= 0 && number <= NUMBER_MAX;
}

static bool is_call(int number)
{
    return number >= 0 && number <= PVMG_CALL_NUMBER_MAX;
}

static bool read_name(struct reader *r, int length, char name[PVMG_GROUP_NAME_MAX + 1])
{
    const int *bytes = length < 1 || length > PVMG_GROUP_NAME_MAX ? NULL : read_ints(r, length);

    for (int i = 0; bytes && i < length; i++)
        name[i] = (char)bytes[i];
    name[bytes ? length : 0] = '\0';
    return bytes && strlen(name) == (size_t)length;
}

static bool read_members(struct reader *r, int n, struct group *g)
{
    for (int i = 0; i < n; i++) {
        const int *row = read_ints(r, ROW_INTS);
        if (!row || row[TID] <= 0 || row[INSTANCE] < 0 || !is_call(row[ENTERED]) || !is_call(row[CONFIRMED]))
            return false;
        struct member *m = pvmg_roster_restore_member(g, row[TID], row[INSTANCE]);
        if (!m)
            return false;
        m->calls = row[ENTERED];
        m->confirmed = row[CONFIRMED];
        m->told_failure = row[TOLD_FAILURE];
        m->told_deaths = row[TOLD_DEATHS];
        m->answered = row[ANSWERED];
        m->answer = row[ANSWER];
    }
    return g->size > 0;
}

/* The lists of one entry. */
struct lists {
    struct list **all;
    int n;
};

static void free_lists(struct lists *lists)
{
    for (int i = 0; i < lists->n; i++)
        pvmg_list_unref(lists->all[i]);
    free(lists->all);
}

static struct list *find_list(const struct lists *lists, int generation)
{
    for (int i = 0; i < lists->n; i++)
        if (lists->all[i]->generation == generation)
            return lists->all[i];
    return NULL;
}

static bool is_ascending(const int *instances, int n)
{
    for (int i = 0; i < n; i++)
        if (instances[i] < 0 || (i > 0 && instances[i] <= instances[i - 1]))
            return false;
    return true;
}

static struct list *read_list(struct reader *r)
{
    const int *head = read_ints(r, 2);
    const int *instances = head ? read_ints(r, head[1]) : NULL, *tids = instances ? read_ints(r, head[1]) : NULL;
    struct list *l = tids && is_number(head[0]) && is_ascending(instances, head[1]) ? pvmg_list_new(head[1]) : NULL;

    if (!l)
        return NULL;
    pvmg_list_set_generation(l, head[0]);
    memcpy(l->instances, instances, (size_t)l->size * sizeof(*instances));
    memcpy(l->tids, tids, (size_t)l->size * sizeof(*tids));
    return l;
}

static bool read_lists(struct reader *r, int n, struct lists *lists)
{
    if (n < 0 || (size_t)n > r->left)
        return false;
    lists->all = calloc((size_t)n + 1, sizeof(struct list *));
    while (lists->all && lists->n < n) {
        struct list *l = read_list(r);
        if (!l)
            return false;
        lists->all[lists->n++] = l;
    }
    return lists->all;
}

/* The list of the recorded generation: one of those read if the group is frozen, else that of its members. */
static bool set_list(struct group *g, int generation, const struct lists *lists)
{
    struct list *frozen = g->frozen ? find_list(lists, generation) : NULL;

    if (frozen)
        g->list = pvmg_list_ref(frozen);
    if (!frozen && !g->frozen && pvmg_roster_list(g))
        pvmg_list_set_generation(g->list, generation);
    return g->list;
}

static bool restore_run(struct group *g, const int *run, const struct lists *lists)
{
    struct list *l = run[2] == g->list->generation ? g->list : find_list(lists, run[2]);

    if (!l || !is_call(run[0]) || run[1] < 1 || run[1] > PVMG_CALLS_MAX || run[1] > g->calls - run[0])
        return false;
    for (int i = 0; i < run[1]; i++)
        if (!pvmg_calls_restore(g, run[0] + i, l))
            return false;
    return true;
}

static bool read_runs(struct reader *r, int n, struct group *g, const struct lists *lists)
{
    int next = 0;

    for (int i = 0; i < n; i++) {
        const int *run = read_ints(r, 3);
        if (!run || run[0] < next || !restore_run(g, run, lists))
            return false;
        next = run[0] + run[1];
    }
    return r->left == 0;
}

static void read_head(struct group *g, const int *head)
{
    pvmg_roster_set_id(g, head[ID]);
    g->frozen = head[FROZEN];
    g->broken = head[BROKEN];
    g->first_loss = head[FIRST_LOSS];
    g->calls = head[CALLS];
    g->deaths = head[DEATHS];
    g->vacant = head[VACANT];
    g->epoch = head[EPOCH];
    g->pending_failures = head[PENDING_FAILURES];
    g->pending_code = head[PENDING_CODE];
    g->recorded = true;
}

static bool read_group(struct reader *r, const int *head, struct group *g)
{
    struct lists lists = {0};
    bool done;

    read_head(g, head);
    done = read_members(r, head[MEMBERS], g) && read_lists(r, head[LISTS], &lists) &&
           set_list(g, head[GENERATION], &lists) && read_runs(r, head[RUNS], g, &lists);
    free_lists(&lists);
    return done;
}

static bool is_sound(const int *head, int id)
{
    return head && head[VERSION] == THIS_VERSION && head[ID] == id && is_number(id) && is_number(head[GENERATION]) &&
           is_call(head[CALLS]) && is_number(head[DEATHS]) && is_number(head[VACANT]) && is_number(head[EPOCH]) &&
           head[BROKEN] <= 0 && head[FIRST_LOSS] <= 0 && head[PENDING_CODE] <= 0;
}

/* A group of which all is restored, or NULL. */
static struct group *read_entry(struct reader *r, int id)
{
    char name[PVMG_GROUP_NAME_MAX + 1];
    const int *head = read_ints(r, HEAD_INTS);

    if (!is_sound(head, id) || !read_name(r, head[NAME_BYTES], name) || pvmg_roster_find(name))
        return NULL;
    struct group *g = pvmg_roster_add(name);
    if (g && read_group(r, head, g))
        return g;
    if (g)
        pvmg_roster_drop(g);
    return NULL;
}

/* Reads the entry in the active receive buffer. */
static struct group *restore_group(int buffer, int id)
{
    int length = 0, bytes = 0;

    if (pvm_bufinfo(buffer, &bytes, NULL, NULL) < 0 || pvm_upkint(&length, 1, 1) < 0)
        return NULL;
    if (length < 0 || length > bytes / (int)sizeof(int))
        return NULL;
    int *ints = malloc(((size_t)length + 1) * sizeof(*ints));
    struct reader r = {ints, (size_t)length};
    struct group *g = ints && pvm_upkint(ints, length, 1) >= 0 ? read_entry(&r, id) : NULL;
    free(ints);
    return g;
}

/* The id in the name of an entry, or -1. */
static int entry_id(const char *name)
{
    static const size_t prefix = sizeof(PVMG_GROUP_RECORD_CLASS) - 1;
    char expected[32];
    int id = strncmp(name, PVMG_GROUP_RECORD_CLASS, prefix) == 0 ? atoi(name + prefix) : -1;

    entry_name(expected, id);
    return strcmp(name, expected) == 0 ? id : -1;
}

static void restore_entry(const char *name, void (*restored)(int tid))
{
    int id = entry_id(name), buffer = id < 0 ? id : pvm_recvinfo((char *)name, 0, PvmMboxDefault);

    if (buffer < 0)
        return;
    struct group *g = restore_group(buffer, id);
    if (!g) {
        fprintf(stderr, "pvmgs: mailbox entry \"%s\" is no record of a group\n", PVMC_VISIBLE(name));
        pvm_delinfo((char *)name, 0, PvmMboxDefault);
        return;
    }
    for (const struct member *m = g->members; m; m = m->hh.next)
        restored(m->tid);
}

void pvmg_record_restore(void (*restored)(int tid))
{
    struct pvmmboxinfo *classes;
    int n = 0;

    if (pvm_getmboxinfo(PVMG_GROUP_RECORD_CLASS "*", &n, &classes) < 0)
        return;
    for (int i = 0; i < n; i++)
        restore_entry(classes[i].mi_name, restored);
}
