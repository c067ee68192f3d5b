/*
 * options.h - the values that pvm_setopt() sets. Destinations and traces of this task are in pvmi_self_trace, those of
 * the tasks it spawns in pvmctrc (compat.h).
 */
#ifndef PVMI_OPTIONS_H
#define PVMI_OPTIONS_H

#include <stdbool.h>
#include "pvm3.h"
#include "pvmtev.h"

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

#endif
