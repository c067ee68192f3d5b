/*
 * event.h - one event of a trace and its fields, read from a message or a file.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pvm3.h"
#include "pvmtev.h"

enum phase { PHASE_POINT, PHASE_ENTRY, PHASE_EXIT };

enum field_kind { FIELD_NUMBER, FIELD_REAL, FIELD_TEXT, FIELD_NUMBERS, FIELD_TEXTS };

/* One field of an event. The store into which it was read owns what it points to. */
struct field {
    uint8_t id;    /* TEV_DID_... */
    uint8_t kind;  /* enum field_kind */
    int32_t count; /* of NUMBERS and TEXTS */
    union {
        int64_t number;
        double real;
        const char *text;
        const int64_t *numbers;
        const char *const *texts;
    };
};

struct event {
    int64_t time_us; /* since 1970 */
    int tid;
    uint16_t what;  /* TEV_... */
    uint8_t phase;  /* enum phase */
    uint8_t fields; /* number of fields; without TS, TU and TID */
    const struct field *field;
};

enum { EVENT_FIELDS_MAX = 64 };

#define EVENT_TIME_MAX_US                                                                                              \
    (INT64_C(1) << 60) /* before and after 1970: differences and sums of times do not overflow                         \
                        */

/* Whether a time, or an offset between clocks, is within EVENT_TIME_MAX_US. */
bool event_is_time(int64_t us);

/* Adds number * unit_us to an event's time, unless the result is out of range. */
void event_add_time(struct event *e, int64_t number, int64_t unit_us);

/* The field with this id, or NULL. */
const struct field *event_field(const struct event *e, int id);

/* The number with this id; `absent` when the event does not have it or is NULL. */
int64_t event_number(const struct event *e, int id, int64_t absent);

/* Such as "send", or "event 200" for an event that pvmtev.h does not have. Static storage. */
const char *event_name(int what);
const char *event_field_name(int id);

/* TEV_... or TEV_DID_... of a name; -1 if unknown. */
int event_by_name(const char *name);
int event_field_by_name(const char *name);

extern const char *const event_phases[]; /* "point", "entry", "exit" */

#endif
