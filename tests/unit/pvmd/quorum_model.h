/*
 * quorum_model.h - a machine of up to five daemons that run quorum.c over links of the model: what can happen to it,
 * and what must be true whatever happens. One machine exists at a time; it can be written to bytes and read back.
 */
#ifndef QUORUM_MODEL_H
#define QUORUM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODEL_NODES = 5,
    MODEL_CHANGES = 48, /* changes that tables can hold */
    MODEL_BYTES = 8192, /* of a machine, written */
    MODEL_ACTIONS = 256 /* that are possible at a time */
};

/* What can happen. Those before MODEL_DELIVER happen only as often as the bounds say. */
enum model_kind {
    MODEL_CHANGE,   /* leader `a` changes its tables */
    MODEL_MEMBERS,  /* leader `a` makes the nodes of the mask `b` the members; those that do not run yet join */
    MODEL_CRASH,    /* `a` ends */
    MODEL_SILENCE,  /* `a` gives up its leader, which lives: their link is lost */
    MODEL_CUT,      /* the link between `a` and `b` is lost */
    MODEL_CAMPAIGN, /* `a` asks for votes */
    MODEL_RETURN,   /* `a` was leader when it crashed, and is back from its journal */
    MODEL_DAMAGE,   /* as MODEL_DELIVER, but `b` cannot make the change or read the tables */
    MODEL_DELIVER,  /* the first message from `a` arrives at `b` */
    MODEL_PROOF,    /* `a` hears that `b` has ended */
    MODEL_LOST,     /* `a` notices that its leader, or the link to it, is gone */
    MODEL_RELOAD,   /* `a` could not read its tables, and asks for them again */
    MODEL_KINDS
};

struct model_action {
    uint8_t kind, a, b;
};

struct model_bounds {
    unsigned members;              /* at first; node 0 leads */
    unsigned times[MODEL_DELIVER]; /* by kind of action */
    bool half_elects;
    bool proves_late; /* proofs of death come even of those that may have voted in a term later than the hearer's */
};

void model_begin(const struct model_bounds *bounds);
size_t model_write(uint8_t *bytes);
void model_read(const uint8_t *bytes);

/* All actions that are possible now. */
unsigned model_actions(struct model_action actions[MODEL_ACTIONS]);
void model_do(struct model_action action);
void model_print(struct model_action action);

/* NULL, or which rule the machine has broken. */
const char *model_fault(void);

/* Whether more than half of all members that any member knows run, with links between all that run. */
bool model_is_healthy(void);

/* Nothing breaks any more: whether a leader comes, commits a change, and all members that run have it. */
bool model_recovers(void);

#endif
