/* spacetime.c - see spacetime.h. */
#include "spacetime.h"
#include <stdlib.h>
#include "match.h"
#include "tools/pvm-trace/meaning.h"

/* ---- messages ---- */

void spacetime_add_message(struct spacetime *s, const struct spacetime_message *m)
{
    if (s->new_message_count < SPACETIME_BATCH_ROOM)
        s->new_messages[s->new_message_count++] = *m;
    else
        s->hidden++;
}

static void send_one(struct spacetime *s, const struct event *e, int64_t destination, int64_t time_us)
{
    struct spacetime_message m = {.from = e->tid,
                                  .to = (int)destination,
                                  .tag = (int)event_number(e, TEV_DID_MC, 0),
                                  .bytes = meaning_bytes(e),
                                  .sent_us = time_us};

    if (destination < 0 || m.tag < 0) /* a message between libraries */
        return;
    if (destination > 0)
        traffic_sent(s->traffic, m.from, m.to, m.bytes);
    match_send(s, &m, (int)event_number(e, TEV_DID_MCX, 0));
}

static void take_send(struct spacetime *s, const struct event *e, int64_t time_us)
{
    const struct field *list = e->what == TEV_MCAST ? event_field(e, TEV_DID_MDL) : NULL;

    if (e->what == TEV_SEND || e->what == TEV_PSEND) {
        int64_t destination = event_number(e, TEV_DID_DST, 0);
        if (destination > 0)
            send_one(s, e, destination, time_us);
    } else if (e->what == TEV_BCAST) {
        send_one(s, e, 0, time_us);
    }
    for (int i = 0; list != NULL && list->kind == FIELD_NUMBERS && i < list->count; i++)
        if (list->numbers[i] > 0 && list->numbers[i] != e->tid) /* a multicast skips its sender */
            send_one(s, e, list->numbers[i], time_us);
}

static void take_receive(struct spacetime *s, const struct event *e, int64_t time_us)
{
    struct spacetime_message m = {.from = (int)event_number(e, TEV_DID_SRC, 0),
                                  .to = e->tid,
                                  .tag = (int)event_number(e, TEV_DID_MC, 0),
                                  .bytes = meaning_bytes(e),
                                  .received_us = time_us};

    match_receive(s, &m, (int)event_number(e, TEV_DID_MCX, 0));
}

/* ---- calls ---- */

static void add_call(struct spacetime *s, int tid, int what, int64_t start_us, int64_t end_us)
{
    if (s->new_call_count < SPACETIME_BATCH_ROOM)
        s->new_calls[s->new_call_count++] = (struct spacetime_call){tid, what, start_us, end_us};
    else
        s->hidden++;
}

static void enter(struct snapshot_task *t, int what, int64_t time_us)
{
    if (t->depth == SNAPSHOT_DEPTH_MAX)
        t->depth = 0; /* their ends were lost */
    t->calls[t->depth++] = (struct snapshot_call){what, time_us};
    t->changed = true;
}

static void leave(struct spacetime *s, struct snapshot_task *t, int what, int64_t time_us)
{
    for (int i = t->depth; i-- > 0;)
        if (t->calls[i].what == what) {
            add_call(s, t->tid, what, t->calls[i].since_us, time_us);
            t->depth = i;
            t->changed = true;
            return;
        }
}

static void take_birth(struct snapshot_task *t, const struct event *e)
{
    const struct field *name = event_field(e, TEV_DID_TN);
    int64_t parent = event_number(e, TEV_DID_PT, 0);

    if (name != NULL && name->kind == FIELD_TEXT)
        snapshot_name(t, name->text);
    if (parent > 0)
        t->parent = (int)parent;
}

void spacetime_take(struct spacetime *s, const struct event *e, int64_t time_us)
{
    struct snapshot_task *t = e->tid > 0 ? snapshot_meet(s->snapshot, e->tid, time_us) : NULL;

    s->events++;
    if (t == NULL)
        return;
    if (time_us < t->begun_us) { /* the list of tasks was faster than its first events */
        t->begun_us = time_us;
        t->changed = true;
    }
    if (e->what == TEV_NEWTASK)
        take_birth(t, e);
    else if (e->what == TEV_ENDTASK)
        snapshot_end(s->snapshot, t, time_us);
    if (e->phase == PHASE_POINT)
        return;
    t->changed |= !t->traced;
    t->traced = true;
    if (e->phase == PHASE_ENTRY) {
        enter(t, e->what, time_us);
        take_send(s, e, time_us);
    } else {
        leave(s, t, e->what, time_us);
    }
    if (meaning_receives(e))
        take_receive(s, e, time_us);
}

/* ---- JSON ---- */

static json_t *call_json(const struct spacetime_call *c)
{
    return json_pack("[i, i, I, I]", c->tid, c->what, (json_int_t)c->start_us, (json_int_t)(c->end_us - c->start_us));
}

static json_t *message_json(const struct spacetime_message *m)
{
    return json_pack("[i, i, i, I, I, I]", m->from, m->to, m->tag, (json_int_t)m->bytes, (json_int_t)m->sent_us,
                     (json_int_t)m->received_us);
}

static int by_length(const void *a, const void *b)
{
    const struct spacetime_call *x = a, *y = b;
    int64_t difference = (y->end_us - y->start_us) - (x->end_us - x->start_us);

    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static int tell_new_calls(struct spacetime *s, json_t *rows)
{
    int n = s->new_call_count < SPACETIME_BATCH_MAX ? s->new_call_count : SPACETIME_BATCH_MAX;

    if (s->new_call_count > n)
        qsort(s->new_calls, (size_t)s->new_call_count, sizeof(*s->new_calls), by_length);
    for (int i = 0; i < n; i++) {
        s->calls[s->call_count++ % SPACETIME_KEPT] = s->new_calls[i];
        json_array_append_new(rows, call_json(&s->new_calls[i]));
    }
    s->hidden += s->new_call_count - n;
    s->new_call_count = 0;
    return n;
}

static int tell_new_messages(struct spacetime *s, json_t *rows)
{
    int n = s->new_message_count < SPACETIME_BATCH_MAX ? s->new_message_count : SPACETIME_BATCH_MAX;

    for (int i = 0; i < n; i++) {
        s->messages[s->message_count++ % SPACETIME_KEPT] = s->new_messages[i];
        json_array_append_new(rows, message_json(&s->new_messages[i]));
    }
    s->hidden += s->new_message_count - n;
    s->new_message_count = 0;
    return n;
}

static int64_t first_kept(int64_t count)
{
    return count > SPACETIME_KEPT ? count - SPACETIME_KEPT : 0;
}

void spacetime_tell(struct spacetime *s, json_t *to, bool all)
{
    json_t *calls = json_array(), *messages = json_array();
    int n = 0;

    if (all) {
        for (int64_t i = first_kept(s->call_count); i < s->call_count; i++, n++)
            json_array_append_new(calls, call_json(&s->calls[i % SPACETIME_KEPT]));
        for (int64_t i = first_kept(s->message_count); i < s->message_count; i++, n++)
            json_array_append_new(messages, message_json(&s->messages[i % SPACETIME_KEPT]));
    } else {
        n = tell_new_calls(s, calls) + tell_new_messages(s, messages);
    }
    if (all || n > 0) {
        json_object_set(to, "calls", calls);
        json_object_set(to, "messages", messages);
        json_object_set_new(to, "hidden", json_integer(s->hidden));
    }
    json_decref(calls);
    json_decref(messages);
}
