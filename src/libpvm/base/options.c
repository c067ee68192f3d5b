/* options.c - see options.h. */
#include "options.h"
#include "compat.h"

struct pvmi_options pvmi_options = {
    .route = PvmAllowDirect, .auto_err = PVMI_AUTOERR_PRINT, .frag_size = 4080, .show_tids = 1};
struct Pvmtracer pvmi_self_trace, pvmctrc;
int pvmdebmask;
