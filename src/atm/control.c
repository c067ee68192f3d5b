/* control.c - stub */
#include "control.h"
void pvma_control_install(struct pvma_net *net)
{
    (void)net;
}
void pvma_control_remove(struct pvma_net *net)
{
    (void)net;
}
