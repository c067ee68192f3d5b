#include "packet.h"
#include <stdlib.h>
#include "datatype.h"
#include "pvm3.h"
#include "tree.h"

/* Order of a packet's ints on the wire. */
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

static bool has_tids(const struct pvmg_packet *p)
{
    return p->kind == PVMG_PACKET_UP || p->kind == PVMG_PACKET_DOWN;
}

static bool has_values(const struct pvmg_packet *p)
{
    return p->code >= 0 && has_tids(p);
}

/* Number of values in the packet. */
static size_t values(const struct pvmg_packet *p)
{
    size_t n = (size_t)p->call.n;

    return p->call.operation == PVMG_REDUCE ? n : n * (size_t)p->reach;
}

size_t pvmg_packet_part_bytes(const struct pvmg_packet *p)
{
    return (size_t)p->call.n * pvmg_datatype_bytes(p->call.type);
}

static bool allocate(struct pvmg_packet *p)
{
    if (has_tids(p)) {
        p->tids = malloc((size_t)p->reach * sizeof(*p->tids));
        if (!p->tids)
            return false;
    }
    if (!has_values(p))
        return true;
    p->bytes = values(p) * pvmg_datatype_bytes(p->call.type);
    p->data = malloc(p->bytes);
    return p->data;
}

struct pvmg_packet *pvmg_packet_new(int kind, const struct pvmg_call *call, int code, int start, int reach)
{
    struct pvmg_packet *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->kind = kind;
    p->call = *call;
    p->code = code;
    p->start = start;
    p->reach = reach;
    if (!allocate(p)) {
        pvmg_packet_free(p);
        return NULL;
    }
    return p;
}

void pvmg_packet_free(struct pvmg_packet *p)
{
    if (!p)
        return;
    free(p->tids);
    free(p->data);
    free(p);
}

bool pvmg_call_agrees(const struct pvmg_call *a, const struct pvmg_call *b)
{
    return a->group == b->group && a->generation == b->generation && a->operation == b->operation &&
           a->root == b->root && a->tag == b->tag && a->type == b->type && a->n == b->n;
}

/* Packs the packet into a new active send buffer. */
static int pack(const struct pvmg_packet *p)
{
    const struct pvmg_call *call = &p->call;
    int wire[WIRE_INTS] = {
        [WIRE_GROUP] = call->group,   [WIRE_GENERATION] = call->generation,
        [WIRE_NUMBER] = call->number, [WIRE_OPERATION] = call->operation,
        [WIRE_ROOT] = call->root,     [WIRE_TAG] = call->tag,
        [WIRE_TYPE] = call->type,     [WIRE_N] = call->n,
        [WIRE_CODE] = p->code,        [WIRE_START] = p->start,
        [WIRE_REACH] = p->reach,
    };
    int kind = p->kind, code = pvm_initsend(PvmDataDefault);

    if (code >= 0)
        code = pvm_pkint(&kind, 1, 1);
    if (code >= 0)
        code = pvm_pkint(wire, WIRE_INTS, 1);
    if (code >= 0 && has_tids(p))
        code = pvm_pkint(p->tids, p->reach, 1);
    if (!has_values(p))
        return code;
    /* One position at a time, so that sender and receiver split the values alike. */
    for (size_t i = 0, part = values(p) / (size_t)call->n; code >= 0 && i < part; i++)
        code = pvmg_datatype_pack(call->type, (char *)p->data + i * pvmg_packet_part_bytes(p), (size_t)call->n);
    return code;
}

int pvmg_packet_send(const struct pvmg_packet *p, int tid)
{
    int code = pack(p);

    return code < 0 ? code : pvm_send(tid, PVMG_GROUP_TRAFFIC);
}

int pvmg_packet_mcast(const struct pvmg_packet *p, int *tids, int count)
{
    int code = pack(p);

    return code < 0 ? code : pvm_mcast(tids, count, PVMG_GROUP_TRAFFIC);
}

int pvmg_packet_signal(int kind, const struct pvmg_call *call, int code, int tid)
{
    struct pvmg_packet p = {.kind = kind, .call = *call, .code = code};

    return pvmg_packet_send(&p, tid);
}

struct pvmg_packet pvmg_packet_slice(const struct pvmg_packet *p, int first, int reach)
{
    struct pvmg_packet part = *p;

    part.start += first;
    part.reach = reach;
    part.tids += first;
    part.bytes = (size_t)reach * pvmg_packet_part_bytes(p);
    part.data = has_values(p) ? (char *)p->data + (size_t)first * pvmg_packet_part_bytes(p) : NULL;
    return part;
}

void pvmg_packet_forward(const struct pvmg_packet *p)
{
    int reach = p->reach;
    long place = 1;

    while (place < reach)
        place *= PVMG_TREE_RADIX;
    /* The last child has the largest subtree, so it is sent first. */
    for (; place >= 1; place /= PVMG_TREE_RADIX) {
        for (long child = place * (PVMG_TREE_RADIX - 1); child > 0; child -= place) {
            if (child >= reach)
                continue;
            struct pvmg_packet part = pvmg_packet_slice(p, (int)child, reach - (int)child);
            pvmg_packet_send(&part, part.tids[0]);
            reach = (int)child;
        }
    }
}

/*
 * Whether these ints, from a message of `length` bytes, form a valid packet. Each tid and value takes at least one
 * byte; a length that does not fit an int is negative and not checked.
 */
static bool sound(const int *wire, int kind, int length)
{
    bool carries = kind == PVMG_PACKET_UP || kind == PVMG_PACKET_DOWN;

    if (kind < PVMG_PACKET_UP || kind > PVMG_PACKET_FINISHED || wire[WIRE_START] < 0 || wire[WIRE_REACH] < carries)
        return false;
    if (wire[WIRE_REACH] > PVMG_GROUP_MEMBERS_MAX || wire[WIRE_START] > PVMG_GROUP_MEMBERS_MAX)
        return false;
    if (!carries)
        return true;
    if (wire[WIRE_N] < 1 || pvmg_datatype_bytes(wire[WIRE_TYPE]) == 0)
        return false;
    return length < 0 || (wire[WIRE_REACH] <= length && (wire[WIRE_N] <= length || wire[WIRE_CODE] < 0));
}

struct pvmg_packet *pvmg_packet_receive(int kind)
{
    int wire[WIRE_INTS], length, from, code = PvmOk;
    struct pvmg_packet *p;
    struct pvmg_call call;

    if (pvm_bufinfo(pvm_getrbuf(), &length, NULL, &from) < 0 || pvm_upkint(wire, WIRE_INTS, 1) < 0)
        return NULL;
    if (!sound(wire, kind, length))
        return NULL;
    call = (struct pvmg_call){.group = wire[WIRE_GROUP],
                              .generation = wire[WIRE_GENERATION],
                              .number = wire[WIRE_NUMBER],
                              .operation = wire[WIRE_OPERATION],
                              .root = wire[WIRE_ROOT],
                              .tag = wire[WIRE_TAG],
                              .type = wire[WIRE_TYPE],
                              .n = wire[WIRE_N]};
    p = pvmg_packet_new(kind, &call, wire[WIRE_CODE], wire[WIRE_START], wire[WIRE_REACH]);
    if (!p)
        return NULL;
    p->from = from;
    if (has_tids(p))
        code = pvm_upkint(p->tids, p->reach, 1);
    if (has_values(p))
        for (size_t i = 0, part = values(p) / (size_t)call.n; code >= 0 && i < part; i++)
            code = pvmg_datatype_unpack(call.type, (char *)p->data + i * pvmg_packet_part_bytes(p), (size_t)call.n);
    if (code < 0) {
        pvmg_packet_free(p);
        return NULL;
    }
    return p;
}
