/*
 * tracer.h - traces programs that were started from a shell: pvm_reg_tracer() leaves the settings in the mailbox, and
 * programs find them there when they enrol.
 */
#ifndef PVMI_TRACER_H
#define PVMI_TRACER_H

#include "core/message/message.h"
#include "libpvm/base/options.h"

/* The mailbox entry of a tracer, with the caller's reference; NULL when out of memory. Called by register.c. */
struct pvmc_message *pvmi_tracer_entry(const struct Pvmtracer *tracer);

/* A program from a shell without a trace destination takes the tracer's, if there is one. Called on enrolment. */
void pvmi_tracer_attach(void);

#endif
