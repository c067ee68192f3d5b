#include "parcel.h"
#include <stdlib.h>
#include "item.h"
#include "pvm3.h"
#include "tree.h"

/* Order of a parcel's ints on the wire. */
enum {
    WIRE_GROUP,
    WIRE_GENERATION,
    WIRE_NUMBER,
    WIRE_OPERATION,
    WIRE_ROOT,
    WIRE_TAG,
    WIRE_TYPE,
    WIRE_N,
    WIRE_CODE,
    WIRE_START,
    WIRE_REACH,
    WIRE_INTS
};

static bool has_tids(const struct pvmi_parcel *p)
{
    return p->way == PVMI_WAY_UP || p->way == PVMI_WAY_DOWN;
}

static bool has_values(const struct pvmi_parcel *p)
{
    return p->code >= 0 && has_tids(p);
}

/* Values in the whole parcel. */
static size_t values(const struct pvmi_parcel *p)
{
    size_t n = (size_t)p->call.n;

    return p->call.operation == PVMI_REDUCE ? n : n * (size_t)p->reach;
}

size_t pvmi_parcel_part_bytes(const struct pvmi_parcel *p)
{
    return (size_t)p->call.n * pvmi_item_bytes(p->call.type);
}

static bool allocate(struct pvmi_parcel *p)
{
    if (has_tids(p)) {
        p->tids = malloc((size_t)p->reach * sizeof(*p->tids));
        if (!p->tids)
            return false;
    }
    if (!has_values(p))
        return true;
    p->bytes = values(p) * pvmi_item_bytes(p->call.type);
    p->data = malloc(p->bytes);
    return p->data;
}

struct pvmi_parcel *pvmi_parcel_new(int way, const struct pvmi_call *call, int code, int start, int reach)
{
    struct pvmi_parcel *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->way = way;
    p->call = *call;
    p->code = code;
    p->start = start;
    p->reach = reach;
    if (!allocate(p)) {
        pvmi_parcel_free(p);
        return NULL;
    }
    return p;
}

void pvmi_parcel_free(struct pvmi_parcel *p)
{
    if (!p)
        return;
    free(p->tids);
    free(p->data);
    free(p);
}

bool pvmi_call_agrees(const struct pvmi_call *a, const struct pvmi_call *b)
{
    return a->group == b->group && a->generation == b->generation && a->operation == b->operation &&
           a->root == b->root && a->tag == b->tag && a->type == b->type && a->n == b->n;
}

/* Makes a message of the parcel in a new active send buffer. */
static int pack(const struct pvmi_parcel *p)
{
    const struct pvmi_call *call = &p->call;
    int wire[WIRE_INTS] = {
        [WIRE_GROUP] = call->group,   [WIRE_GENERATION] = call->generation,
        [WIRE_NUMBER] = call->number, [WIRE_OPERATION] = call->operation,
        [WIRE_ROOT] = call->root,     [WIRE_TAG] = call->tag,
        [WIRE_TYPE] = call->type,     [WIRE_N] = call->n,
        [WIRE_CODE] = p->code,        [WIRE_START] = p->start,
        [WIRE_REACH] = p->reach,
    };
    int way = p->way, code = pvm_initsend(PvmDataDefault);

    if (code >= 0)
        code = pvm_pkint(&way, 1, 1);
    if (code >= 0)
        code = pvm_pkint(wire, WIRE_INTS, 1);
    if (code >= 0 && has_tids(p))
        code = pvm_pkint(p->tids, p->reach, 1);
    if (!has_values(p))
        return code;
    /* One position at a time, so that any sender's pieces are the receiver's. */
    for (size_t i = 0, part = values(p) / (size_t)call->n; code >= 0 && i < part; i++)
        code = pvmi_item_pack(call->type, (char *)p->data + i * pvmi_parcel_part_bytes(p), (size_t)call->n);
    return code;
}

int pvmi_parcel_send(const struct pvmi_parcel *p, int tid)
{
    int code = pack(p);

    return code < 0 ? code : pvm_send(tid, PVMI_GROUP_TRAFFIC);
}

int pvmi_parcel_mcast(const struct pvmi_parcel *p, int *tids, int count)
{
    int code = pack(p);

    return code < 0 ? code : pvm_mcast(tids, count, PVMI_GROUP_TRAFFIC);
}

int pvmi_parcel_word(int way, const struct pvmi_call *call, int code, int tid)
{
    struct pvmi_parcel p = {.way = way, .call = *call, .code = code};

    return pvmi_parcel_send(&p, tid);
}

struct pvmi_parcel pvmi_parcel_part_of(const struct pvmi_parcel *p, int first, int reach)
{
    struct pvmi_parcel part = *p;

    part.start += first;
    part.reach = reach;
    part.tids += first;
    part.bytes = (size_t)reach * pvmi_parcel_part_bytes(p);
    part.data = has_values(p) ? (char *)p->data + (size_t)first * pvmi_parcel_part_bytes(p) : NULL;
    return part;
}

void pvmi_parcel_forward(const struct pvmi_parcel *p)
{
    int reach = p->reach;
    long place = 1;

    while (place < reach)
        place *= PVMI_TREE_RADIX;
    /* The farthest child has the largest subtree: it comes first. */
    for (; place >= 1; place /= PVMI_TREE_RADIX) {
        for (long child = place * (PVMI_TREE_RADIX - 1); child > 0; child -= place) {
            if (child >= reach)
                continue;
            struct pvmi_parcel part = pvmi_parcel_part_of(p, (int)child, reach - (int)child);
            pvmi_parcel_send(&part, part.tids[0]);
            reach = (int)child;
        }
    }
}

/*
 * Are these ints, from a message of `length` bytes, what a sound parcel has? Each tid and value takes a byte at least;
 * a length that an int cannot hold is not told (negative).
 */
static bool sound(const int *wire, int way, int length)
{
    bool carries = way == PVMI_WAY_UP || way == PVMI_WAY_DOWN;

    if (way < PVMI_WAY_UP || way > PVMI_WAY_PAST || wire[WIRE_START] < 0 || wire[WIRE_REACH] < carries)
        return false;
    if (wire[WIRE_REACH] > PVMI_GROUP_MEMBERS_MAX || wire[WIRE_START] > PVMI_GROUP_MEMBERS_MAX)
        return false;
    if (!carries)
        return true;
    if (wire[WIRE_N] < 1 || pvmi_item_bytes(wire[WIRE_TYPE]) == 0)
        return false;
    return length < 0 || (wire[WIRE_REACH] <= length && (wire[WIRE_N] <= length || wire[WIRE_CODE] < 0));
}

struct pvmi_parcel *pvmi_parcel_receive(int way)
{
    int wire[WIRE_INTS], length, from, code = PvmOk;
    struct pvmi_parcel *p;
    struct pvmi_call call;

    if (pvm_bufinfo(pvm_getrbuf(), &length, NULL, &from) < 0 || pvm_upkint(wire, WIRE_INTS, 1) < 0)
        return NULL;
    if (!sound(wire, way, length))
        return NULL;
    call = (struct pvmi_call){.group = wire[WIRE_GROUP],
                              .generation = wire[WIRE_GENERATION],
                              .number = wire[WIRE_NUMBER],
                              .operation = wire[WIRE_OPERATION],
                              .root = wire[WIRE_ROOT],
                              .tag = wire[WIRE_TAG],
                              .type = wire[WIRE_TYPE],
                              .n = wire[WIRE_N]};
    p = pvmi_parcel_new(way, &call, wire[WIRE_CODE], wire[WIRE_START], wire[WIRE_REACH]);
    if (!p)
        return NULL;
    p->from = from;
    if (has_tids(p))
        code = pvm_upkint(p->tids, p->reach, 1);
    if (has_values(p))
        for (size_t i = 0, part = values(p) / (size_t)call.n; code >= 0 && i < part; i++)
            code = pvmi_item_unpack(call.type, (char *)p->data + i * pvmi_parcel_part_bytes(p), (size_t)call.n);
    if (code < 0) {
        pvmi_parcel_free(p);
        return NULL;
    }
    return p;
}
