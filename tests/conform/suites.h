/* suites.h - the parts of the conformance suite; each returns its test case. */
#ifndef SUITES_H
#define SUITES_H

#include <check.h>

TCase *rules_case(void);     /* sending, receiving, ending: between two sides of this process */
TCase *memory_case(void);    /* references, in-place data, descriptors that run out */
TCase *meeting_case(void);   /* setting up connections, by address or by offer */
TCase *processes_case(void); /* two processes, and the fate of frames when one dies */
TCase *faults_case(void);    /* connections that end by themselves */

#endif
