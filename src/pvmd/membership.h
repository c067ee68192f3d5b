/*
 * membership.h - what the duties of a daemon do when a host leaves or joins: membership.c calls these in order.
 */
#ifndef PVMD_MEMBERSHIP_H
#define PVMD_MEMBERSHIP_H

#include "hosts.h"

void pvmd_notify_host_joined(const struct pvmd_host *host);  /* HostAdd events */
void pvmd_manager_host_joined(const struct pvmd_host *host); /* who the resource manager is, to the new host */
void pvmd_manager_host_left(unsigned index);                 /* SM_HOSTX to it */
void pvmd_notify_host_left(unsigned index);                  /* HostDelete events */
void pvmd_watch_host_left(unsigned index);                   /* its tasks have ended */
void pvmd_relay_host_left(unsigned index);                   /* TC_GONE to our tasks; its messages stay unfinished */
void pvmd_output_host_left(unsigned index);                  /* nothing holds us back on its behalf any more */
void pvmd_siblings_host_left(unsigned index); /* tasks that waited for its TC_SIBLINGS are on their own */

#endif
