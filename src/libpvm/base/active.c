/* active.c - see active.h. The current context is here as well: old programs know it by that name (compat.h). */
#include "active.h"
#include <stddef.h>
#include "compat.h"

struct pvmi_active pvmi_send_buffer, pvmi_receive_buffer;
int (*pvmi_receive_match)(int mid, int tid, int tag);
struct pvmi_wanted *pvmi_inbox_ours, *pvmi_offer_receive;
unsigned pvmi_handler_deferred;
int pvmmyctx;
