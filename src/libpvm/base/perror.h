/* perror.h - how a public call ends: pvm_errno, the error line on stderr, and the effect of PvmAutoErr. */
#ifndef PVMI_PERROR_H
#define PVMI_PERROR_H

/* pvmi_return() of a negative code. */
int pvmi_return_error(const char *call, int rc);

/*
 * The edge of the API: every public function returns through here. Passes rc >= 0 on. Maps a negative internal code to
 * the public one, sets pvm_errno and, as PvmAutoErr says, prints "libpvm [t40007]: call(): text", exits or aborts.
 */
static inline int pvmi_return(const char *call, int rc)
{
    return __builtin_expect(rc >= 0, 1) ? rc : pvmi_return_error(call, rc);
}

/* As pvmi_return(), but prints no line: for codes that are answers rather than mistakes, such as "no such task". */
int pvmi_return_answer(const char *call, int rc);

/* This task in lines on stderr: "t40007", or "pid123" before enrolment. Static storage. */
const char *pvmi_identity(void);

#endif
