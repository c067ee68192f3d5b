/*
 * tracer.h - tracers by which programs from a shell are traced without being told to: pvm_reg_tracer() leaves in the
 * mailbox what they need, and they find it when they enrol.
 */
#ifndef PVMI_TRACER_H
#define PVMI_TRACER_H

#include "../core/message.h"
#include "options.h"

/* The mailbox entry of a tracer, with the caller's reference; NULL when out of memory. Called by register.c. */
struct pvmi_message *pvmi_tracer_entry(const struct Pvmtracer *tracer);

/* A program from a shell that has no trace destination takes the tracer's, if there is one. Called on enrolment. */
void pvmi_tracer_attach(void);

#endif
