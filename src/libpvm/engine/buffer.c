/* buffer.c - the table of message buffers. */
#include "buffer.h"
#include <limits.h>
#include <stdlib.h>
#include "core/error.h"
#include "core/log.h"
#include "libpvm/base/call.h"
#include "libpvm/base/lock.h"

#define FIRST_SLOTS 64

struct slot {
    struct pvmc_message *m;       /* NULL: free */
    struct pvmi_waiting *waiting; /* the message is in the inbox, which owns the reference */
    int next_free;                /* mid of the next free slot, 0: none */
};

static struct slot *slots; /* mid - 1 */
static int slot_count, first_free;

static PVMI_COLD int add_slots(void)
{
    static const struct pvmi_lock_buffers for_lock = {pvmi_buffer_find, pvmi_buffer_free};
    pvmi_lock_buffers = &for_lock;
    int count = slot_count ? 2 * slot_count : FIRST_SLOTS;
    struct slot *bigger = slot_count > INT_MAX / 2 ? NULL : realloc(slots, count * sizeof *slots);
    if (!bigger) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for more than %d message buffers", slot_count);
        return PVMC_ENOMEM;
    }
    slots = bigger;
    for (int i = count - 1; i >= slot_count; i--) {
        slots[i] = (struct slot){.next_free = first_free};
        first_free = i + 1;
    }
    slot_count = count;
    return 0;
}

static int slot_take(struct pvmc_message *m, struct pvmi_waiting *w)
{
    if (!first_free) {
        int rc = add_slots();
        if (rc)
            return rc;
    }
    int mid = first_free;
    struct slot *s = &slots[mid - 1];
    first_free = s->next_free;
    *s = (struct slot){.m = m, .waiting = w};
    return mid;
}

static void slot_free(int mid)
{
    slots[mid - 1] = (struct slot){.next_free = first_free};
    first_free = mid;
}

int pvmi_buffer_add(struct pvmc_message *m)
{
    int mid = slot_take(m, NULL);
    if (mid < 0)
        pvmc_message_unref(m);
    return mid;
}

int pvmi_buffer_of_waiting(struct pvmi_waiting *w)
{
    if (!w->mid) {
        int mid = slot_take(w->m, w);
        if (mid < 0)
            return mid;
        w->mid = mid;
    }
    return w->mid;
}

void pvmi_buffer_taken(int mid)
{
    slots[mid - 1].waiting = NULL;
}

struct pvmc_message *pvmi_buffer_find(int mid)
{
    return mid > 0 && mid <= slot_count ? slots[mid - 1].m : NULL;
}

int pvmi_buffer_get(int mid, struct pvmc_message **m)
{
    *m = pvmi_buffer_find(mid);
    return *m ? 0 : mid <= 0 ? PvmBadParam : PvmNoSuchBuf;
}

static PVMI_COLD void take_out(struct pvmi_waiting *w)
{
    int same;
    pvmi_inbox_take(w, &same);
}

void pvmi_buffer_free(int mid)
{
    struct slot *s = &slots[mid - 1];
    if (__builtin_expect(s->waiting != NULL, 0))
        take_out(s->waiting);
    if (pvmi_send_buffer.mid == mid)
        pvmi_send_buffer = (struct pvmi_active){0};
    if (pvmi_receive_buffer.mid == mid)
        pvmi_receive_buffer = (struct pvmi_active){0};
    struct pvmc_message *m = s->m;
    slot_free(mid);
    pvmc_message_unref(m);
}

/* As slot_take() and slot_free(), in one step: the old slot becomes the first free one. */
int pvmi_buffer_renew_send(uint32_t enc)
{
    struct pvmc_message *m = pvmi_send_buffer.m;
    int old = pvmi_send_buffer.mid, mid = first_free;
    if (!old || !mid || m->refs != 1 || slots[old - 1].waiting)
        return 0;
    struct slot *from = &slots[old - 1], *to = &slots[mid - 1];
    to->m = m;
    from->m = NULL;
    from->next_free = to->next_free;
    first_free = old;
    pvmi_send_buffer.mid = mid;
    pvmc_message_renew(m, enc);
    return mid;
}

int pvmi_buffer_append(struct pvmc_message *to, const struct pvmc_message *from)
{
    if (!pvmc_message_is_inplace(from))
        return from->length ? pvmc_message_pack_bytes(to, from->mem->data, from->length) : 0;
    uint64_t start = to->length;
    int rc = 0;
    for (unsigned i = 0; i < from->inplace_count && !rc; i++)
        rc = pvmc_message_pack_bytes(to, from->inplace[i].iov_base, from->inplace[i].iov_len);
    if (rc)
        to->length = start;
    return rc;
}

/* A buffer cannot be active for sending and for receiving at once. */
static int select_buffer(struct pvmi_active *side, struct pvmi_active *other, int mid)
{
    int old = side->mid;
    if (mid && other->mid == mid)
        *other = (struct pvmi_active){0};
    side->mid = mid;
    side->m = pvmi_buffer_find(mid);
    return old;
}

int pvmi_buffer_select_send(int mid)
{
    return select_buffer(&pvmi_send_buffer, &pvmi_receive_buffer, mid);
}

int pvmi_buffer_select_receive(int mid)
{
    return select_buffer(&pvmi_receive_buffer, &pvmi_send_buffer, mid);
}

__attribute__((destructor)) static void free_all(void)
{
    for (int mid = 1; mid <= slot_count; mid++)
        if (slots[mid - 1].m)
            pvmi_buffer_free(mid);
    free(slots);
    slots = NULL;
    slot_count = first_free = 0;
}
