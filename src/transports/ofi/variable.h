/*
 * variable.h - what dpvm sets for libfabric's provider verbs, which takes it from the environment only.
 */
#ifndef PVMT_OFI_VARIABLE_H
#define PVMT_OFI_VARIABLE_H

/*
 * Call before and after each getinfo() for this provider (NULL or "": any), and opening its endpoint. The first sets
 * the variables that the user has not set, and the second takes them out again, so that programs that a task starts do
 * not get them. The settings of the first getinfo() of the process count: another library's may have come before.
 */
void pvmt_ofi_variables_set(const char *provider);
void pvmt_ofi_variables_unset(void);

#endif
