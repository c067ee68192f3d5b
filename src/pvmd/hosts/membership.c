/* membership.c - see membership.h. */
#include "membership.h"
#include <openssl/rand.h>
#include <string.h>
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "leave.h"
#include "pvmd/base/events.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/quorum/tables.h"

static bool changed; /* and not published */

/*
 * What the other members know of each host, if we lead: the hash of its row, 0 if it is not in their tables. So a
 * change holds only rows that they do not have; the first one of a master holds all.
 */
static uint64_t published[PVMC_HOST_INDEX_MAX + 1];
#define PREDECESSOR 1 /* in our journal, or unknown: no row has this hash */

/* ---- what is published ---- */

/* FNV-1a. */
static uint64_t hash_of(const uint8_t *data, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ data[i]) * 0x100000001b3;
    return hash > PREDECESSOR ? hash : PREDECESSOR + 1;
}

static uint64_t hash_of_row(const struct pvmd_host *h)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmd_host_put_row(&b, h);
    uint64_t hash = hash_of(b.data, b.length);
    pvmc_buf_free(&b);
    return hash;
}

/* ---- the table as bytes ---- */

static void put_table(struct pvmc_buf *b)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    pvmc_buf_put_u32(b, pvmd_host_last_index());
    pvmc_buf_put_u32(b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        pvmd_host_put_row(b, members[i]);
}

static void make_member(struct pvmd_host *h)
{
    if (h->state != PVMD_HOST_JOINING)
        return;
    pvmc_failpoint(PVMC_FAILPOINT_HOST_UP);
    pvmd_host_set_state(h, PVMD_HOST_UP);
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_UP);
    pvmd_tell_host_joined(h);
}

static int skip_row(struct pvmc_buf *b)
{
    struct pvmd_host *h;
    int rc = pvmd_host_get_row(b, &h);
    if (rc)
        return rc;
    published[h->index] = PREDECESSOR;
    pvmd_host_free(h);
    return 0;
}

/* Reads a row. A host that was a member under this index, and is another one now, has left first. */
static int get_member(struct pvmc_buf *b)
{
    struct pvmd_host *h;
    struct pvmc_buf ahead = *b;
    unsigned index = pvmc_buf_get_u32(&ahead);
    uint32_t incarnation = pvmc_buf_get_u32(&ahead);
    struct pvmd_host *old = pvmd_host_any(index);
    if (incarnation == pvmd_host_self()->incarnation && index != pvmd.host_index)
        return skip_row(b); /* our predecessor, in our journal */
    if (old && old->incarnation != incarnation && old != pvmd_host_self())
        pvmd_leave_forget(old);
    int rc = pvmd_host_get_row(b, &h);
    if (rc)
        return rc;
    make_member(h);
    published[index] = hash_of_row(h);
    return 0;
}

static int get_members(struct pvmc_buf *b)
{
    pvmd_host_set_last_index(pvmc_buf_get_u32(b));
    uint32_t count = pvmc_buf_get_u32(b);
    int rc = pvmc_buf_error(b);
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = get_member(b);
    return rc;
}

/*
 * Members that are not in the master's table have left, and hosts that a lost master was adding will not come. This
 * daemon ends if it is one of them.
 */
static void remove_others(void)
{
    for (unsigned i = 1; i < pvmd_host_end() && !pvmd.ending; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (!h || published[i] || (h->state == PVMD_HOST_JOINING && !h->left_over))
            continue;
        if (h == pvmd_host_self() && pvmd_tables_are_returning())
            continue;
        if (h == pvmd_host_self()) {
            pvmd_end(1, "the machine goes on without this host");
            return;
        }
        pvmc_log(PVMC_LOG_INFO, "host %s has left the machine", h->name);
        pvmd_leave_forget(h);
    }
}

/* Makes our table equal to the master's. Hosts that are being added are not in it. */
static int get_table(struct pvmc_buf *b)
{
    memset(published, 0, sizeof published);
    int rc = get_members(b);
    rc = rc ? rc : pvmc_buf_end(b);
    if (!rc)
        remove_others();
    return rc;
}

/* The rows that others do not have, and the indices of those that they have and that are members no more. */
static void put_change(struct pvmc_buf *b)
{
    struct pvmc_buf rows, gone;
    uint32_t row_count = 0, gone_count = 0;
    pvmc_buf_init(&rows);
    pvmc_buf_init(&gone);
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        const struct pvmd_host *h = pvmd_host_any(i);
        uint64_t hash = h && h->state == PVMD_HOST_UP ? hash_of_row(h) : 0;
        if (hash && hash != published[i]) {
            pvmd_host_put_row(&rows, h);
            row_count++;
        } else if (!hash && published[i]) {
            pvmc_buf_put_u32(&gone, i);
            gone_count++;
        }
        published[i] = hash;
    }
    pvmc_buf_put_u32(b, pvmd_host_last_index());
    pvmc_buf_put_u32(b, row_count);
    pvmc_buf_put_bytes(b, rows.data, rows.length);
    pvmc_buf_put_u32(b, gone_count);
    pvmc_buf_put_bytes(b, gone.data, gone.length);
    if (pvmc_buf_error(&rows) || pvmc_buf_error(&gone))
        b->error = PVMC_ENOMEM;
    pvmc_buf_free(&rows);
    pvmc_buf_free(&gone);
}

static int get_change(struct pvmc_buf *b)
{
    int rc = get_members(b);
    uint32_t count = pvmc_buf_get_u32(b);
    rc = rc ? rc : pvmc_buf_error(b);
    for (uint32_t i = 0; !rc && i < count; i++) {
        uint32_t index = pvmc_buf_get_u32(b);
        if (index <= PVMC_HOST_INDEX_MAX)
            published[index] = 0;
        else
            rc = PVMC_EFORMAT;
        rc = rc ? rc : pvmc_buf_error(b);
    }
    rc = rc ? rc : pvmc_buf_end(b);
    if (!rc)
        remove_others();
    return rc;
}

static void save(void (*piece)(const struct pvmc_buf *part))
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    put_table(&b);
    piece(&b);
    pvmc_buf_free(&b);
}

static void clear(void)
{
    /* get_table() removes what is not listed */
}

static const struct pvmd_table table = {.apply = get_change, .save = save, .clear = clear, .load = get_table};

/* ---- at the master ---- */

static void publish(void)
{
    struct pvmc_buf b;
    changed = false;
    pvmc_buf_init(&b);
    put_change(&b);
    pvmd_tables_hosts_changed(&b);
    pvmc_buf_free(&b);
}

void pvmd_membership_changed(void)
{
    changed = true;
    if (pvmd_tables_are_settled())
        publish();
}

bool pvmd_membership_is_published(void)
{
    return !changed;
}

bool pvmd_membership_is_known(void)
{
    return !changed && pvmd_tables_are_settled();
}

void pvmd_membership_committed(uint32_t seq)
{
    (void)seq;
    if (changed && pvmd_tables_are_settled())
        publish();
}

static bool is_taken(uint32_t incarnation)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        const struct pvmd_host *h = pvmd_host_any(i);
        if (h && h->incarnation == incarnation)
            return true;
    }
    return false;
}

/* Not counted: a lost master may have given numbers that nobody else has heard of to daemons that still run. */
uint32_t pvmd_membership_new_incarnation(void)
{
    uint32_t incarnation;
    do {
        if (RAND_bytes((uint8_t *)&incarnation, sizeof incarnation) != 1)
            return 0;
    } while (!incarnation || is_taken(incarnation));
    return incarnation;
}

/* ---- events, start and end ---- */

/*
 * A new master's first change tells of all hosts, also of those that are none: so members become equal even where they
 * differed unnoticed.
 */
void pvmd_membership_master_changed(void)
{
    for (unsigned i = 1; pvmd_is_master() && i <= PVMC_HOST_INDEX_MAX; i++)
        published[i] = PREDECESSOR;
}

void pvmd_membership_start(void)
{
    pvmd_table_register(PVMD_TABLE_HOSTS, &table);
}

void pvmd_membership_stop(void)
{
    changed = false;
    memset(published, 0, sizeof published);
}
