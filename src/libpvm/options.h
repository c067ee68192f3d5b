/*
 * options.h - what pvm_setopt() sets. Destinations and traces of ourselves are in pvmi_self_trace, those of the tasks
 * we spawn in pvmctrc (compat.h).
 */
#ifndef PVMI_OPTIONS_H
#define PVMI_OPTIONS_H

#include <stdbool.h>
#include "../../include/pvm3.h"
#include "../../include/pvmtev.h"
#include "../core/buf.h"

enum pvmi_autoerr { PVMI_AUTOERR_SILENT, PVMI_AUTOERR_PRINT, PVMI_AUTOERR_EXIT, PVMI_AUTOERR_ABORT };

struct pvmi_options {
    int route;
    int auto_err; /* enum pvmi_autoerr; other values count as PRINT */
    int frag_size;
    int resv_tids;
    int show_tids;
    int no_reset;
    bool mask_chosen[PvmTaskChild + 1]; /* the program has called pvm_settmask() */
};

extern struct pvmi_options pvmi_options;
extern struct Pvmtracer pvmi_self_trace;

/*
 * Takes over what the daemon says on enrolment about where our output and traces go, and what the environment says
 * about traces; the tasks we spawn inherit it unless the program has set it otherwise.
 */
void pvmi_options_inherit(struct pvmi_buf *answer);

/* After enrolment: tells the daemon what was set before, such as PvmNoReset. */
void pvmi_options_announce(void);

/* Sends events of ours, and of tasks we spawn, to a task from now on: 0, or why the daemon could not be told. */
int pvmi_options_trace_to(int tid, int context, int tag);

/* The same for output. */
int pvmi_options_output_to(int tid, int context, int tag);

/* On leaving: destinations are tasks of the machine that is left. */
void pvmi_options_forget(void);

#endif
