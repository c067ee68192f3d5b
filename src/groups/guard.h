/*
 * guard.h - keeps what belongs to the user: a group call works in contexts, buffers and options of its own, and leaves
 * the caller's as they were.
 */
#ifndef PVMI_GUARD_H
#define PVMI_GUARD_H

struct pvmi_guard {
    int context, send_buffer, receive_buffer, auto_error, reserved_tags, error;
    int (*match)(int mid, int tid, int tag);
};

/* Puts the user's state aside and switches to `context`, with reserved tags allowed and errors silent. */
void pvmi_guard_enter(struct pvmi_guard *g, int context);

/* Restores the user's state; frees the buffers that became active in between. */
void pvmi_guard_leave(struct pvmi_guard *g);

/*
 * What every public call returns through: hands on `code`; a negative one is noted in pvm_errno. PvmAutoErr does not
 * count here, as in PVM: programs ask for a member again and again until it is there.
 */
int pvmi_guard_result(int code);

/* Of libpvm3: reports an error of a call as PvmAutoErr asks for, and returns it. */
int lpvmerr(const char *call, int code);

#endif
