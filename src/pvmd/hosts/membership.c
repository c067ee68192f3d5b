/* membership.c - see membership.h. */
#include "membership.h"
#include <openssl/rand.h>
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "leave.h"
#include "pvmd/base/events.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/quorum/tables.h"

static bool changed; /* and not published */

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
    if (!rc)
        pvmd_host_free(h);
    return rc;
}

/* Reads a row. A host that was a member under this index, and is another one now, has left first. */
static int get_member(struct pvmc_buf *b, bool listed[PVMC_HOST_INDEX_MAX + 1])
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
    listed[h->index] = true;
    make_member(h);
    return 0;
}

/*
 * Members that are not listed have left, and hosts that a lost master was adding will not come. This daemon ends if it
 * is one of them.
 */
static void remove_others(const bool listed[PVMC_HOST_INDEX_MAX + 1])
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (!h || listed[i] || (h->state == PVMD_HOST_JOINING && !h->left_over))
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
    bool listed[PVMC_HOST_INDEX_MAX + 1] = {false};
    pvmd_host_set_last_index(pvmc_buf_get_u32(b));
    uint32_t count = pvmc_buf_get_u32(b);
    int rc = pvmc_buf_error(b);
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = get_member(b, listed);
    rc = rc ? rc : pvmc_buf_end(b);
    if (!rc)
        remove_others(listed);
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

static const struct pvmd_table table = {.apply = get_table, .save = save, .clear = clear, .load = get_table};

/* ---- at the master ---- */

static void publish(void)
{
    struct pvmc_buf b;
    changed = false;
    pvmc_buf_init(&b);
    put_table(&b);
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

/* ---- start and end ---- */

void pvmd_membership_start(void)
{
    pvmd_table_register(PVMD_TABLE_HOSTS, &table);
}

void pvmd_membership_stop(void)
{
    changed = false;
}
