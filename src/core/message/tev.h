/*
 * tev.h - the data of trace events: names and meanings of TEV_DID_... in pvmtev.h, in their order. Trace files contain
 * them literally, so they are PVM's. Libraries export them (pvmtevdidlist), daemons send them to each trace receiver.
 */
#ifndef PVMC_TEV_H
#define PVMC_TEV_H

/* X(name, meaning) */
#define PVMC_TEV_DATA(X)                                                                                               \
    X(AN, "PVM Architecture Name")                                                                                     \
    X(AC, "PVM Architecture Code")                                                                                     \
    X(AS, "Argument Strings (Argc/Argv)")                                                                              \
    X(BF, "Block Flag")                                                                                                \
    X(CC, "Condition Code")                                                                                            \
    X(CN, "Class Name")                                                                                                \
    X(CI, "Class Index")                                                                                               \
    X(CF, "Class Flags")                                                                                               \
    X(CD, "Class Data")                                                                                                \
    X(CR, "Returned Class Data")                                                                                       \
    X(CL, "Returned Class Names")                                                                                      \
    X(CDA, "Collective Data Address")                                                                                  \
    X(CDT, "Collective Data Type")                                                                                     \
    X(CDX, "Collective Data")                                                                                          \
    X(CDC, "Collective Count")                                                                                         \
    X(CGI, "Collective Group Result Instance")                                                                         \
    X(CRF, "Collective Reduce Function")                                                                               \
    X(CXC, "Current Message Context")                                                                                  \
    X(CXF, "Freed Message Context")                                                                                    \
    X(CXN, "New Message Context")                                                                                      \
    X(CXS, "Set Message Context")                                                                                      \
    X(ERI, "PVM Error Identifier")                                                                                     \
    X(ERR, "PVM Error String")                                                                                         \
    X(FDS, "File Descriptors")                                                                                         \
    X(FP, "File Pointer")                                                                                              \
    X(GN, "Group Name")                                                                                                \
    X(GI, "Group Instance Number")                                                                                     \
    X(GT, "Group Task ID")                                                                                             \
    X(GS, "Group Size")                                                                                                \
    X(GBC, "Group Barrier Count")                                                                                      \
    X(HN, "Host Name")                                                                                                 \
    X(HNL, "Host Name List")                                                                                           \
    X(HNA, "Host Name Alias")                                                                                          \
    X(HPT, "Host PVMD Task ID")                                                                                        \
    X(HA, "Host Architecture")                                                                                         \
    X(HSP, "Host Speed")                                                                                               \
    X(HIS, "Host Information Structures")                                                                              \
    X(HCS, "Host Clock Seconds")                                                                                       \
    X(HCU, "Host Clock Microseconds")                                                                                  \
    X(HDS, "Host Delta Seconds")                                                                                       \
    X(HDU, "Host Delta Microseconds")                                                                                  \
    X(HS, "Host Status")                                                                                               \
    X(INB, "Info Number of Message Bytes")                                                                             \
    X(IMC, "Info Message Code")                                                                                        \
    X(IST, "Info Message Source Task")                                                                                 \
    X(MC, "Message Code")                                                                                              \
    X(MCX, "Message Context")                                                                                          \
    X(MB, "Message Buffer")                                                                                            \
    X(MNB, "Message Number of Bytes")                                                                                  \
    X(SRC, "Message Source Task ID")                                                                                   \
    X(DST, "Message Destination Task ID")                                                                              \
    X(MDL, "Message Destination Task ID List")                                                                         \
    X(MTS, "Message Timeout Seconds")                                                                                  \
    X(MTU, "Message Timeout Microseconds")                                                                             \
    X(MRF, "Message Receive Function")                                                                                 \
    X(MRB, "Message Receive Buffer")                                                                                   \
    X(MSB, "Message Send Buffer")                                                                                      \
    X(ME, "Message Encoding")                                                                                          \
    X(MHI, "Message Handler Index")                                                                                    \
    X(AST, "Actual Message Sender Task ID")                                                                            \
    X(AMC, "Actual Message Code")                                                                                      \
    X(AML, "Actual Message Length")                                                                                    \
    X(NE, "Notify Event ID")                                                                                           \
    X(NMC, "Notify Message Code")                                                                                      \
    X(NCT, "Notify Count")                                                                                             \
    X(NTL, "Notify Task ID List")                                                                                      \
    X(NH, "Number of Hosts")                                                                                           \
    X(NA, "Number of Architectures")                                                                                   \
    X(OPT, "PVM Option ID")                                                                                            \
    X(OPV, "PVM Option Value")                                                                                         \
    X(OS, "Output String")                                                                                             \
    X(PDA, "Pack Data Address")                                                                                        \
    X(PDT, "Pack Data Type")                                                                                           \
    X(PC, "Pack Count")                                                                                                \
    X(PSD, "Pack Stride")                                                                                              \
    X(PSG, "Pack String")                                                                                              \
    X(PF, "Pack Format")                                                                                               \
    X(PRF, "Profiling Count")                                                                                          \
    X(RST, "Receive Msg Source Task / Wildcard")                                                                       \
    X(RMC, "Receive Msg Code / Wildcard")                                                                              \
    X(RCX, "Receive Msg Context")                                                                                      \
    X(SN, "Signal Number")                                                                                             \
    X(SE, "Spawn Executable File")                                                                                     \
    X(SF, "Spawn Flags")                                                                                               \
    X(SW, "Spawn Where")                                                                                               \
    X(SC, "Spawn Count")                                                                                               \
    X(STL, "Spawned Task ID List")                                                                                     \
    X(SIB, "Sibling Task ID List")                                                                                     \
    X(TID, "Task ID")                                                                                                  \
    X(PT, "Parent Task ID")                                                                                            \
    X(MT, "My Task ID")                                                                                                \
    X(TF, "Task Flags")                                                                                                \
    X(TN, "Task Name")                                                                                                 \
    X(PID, "Task Process ID")                                                                                          \
    X(TT, "Target Task ID")                                                                                            \
    X(TW, "Tasks Where")                                                                                               \
    X(TIS, "Task Information Structures")                                                                              \
    X(TNT, "Task Info - Number of Tasks")                                                                              \
    X(TST, "Task Status")                                                                                              \
    X(TUS, "Task User Usage Seconds")                                                                                  \
    X(TUU, "Task User Usage Microseconds")                                                                             \
    X(TSS, "Task System Usage Seconds")                                                                                \
    X(TSU, "Task System Usage Microseconds")                                                                           \
    X(TES, "Task Exit Status")                                                                                         \
    X(TA, "Tickle Arguments")                                                                                          \
    X(TR, "Tickle Responses")                                                                                          \
    X(TS, "Time Seconds")                                                                                              \
    X(TU, "Time Microseconds")                                                                                         \
    X(TGS, "Timing Seconds")                                                                                           \
    X(TGU, "Timing Microseconds")                                                                                      \
    X(TMW, "Trace Mask Who")                                                                                           \
    X(TM, "Trace Mask")                                                                                                \
    X(TRC, "Tracer Message Trace Context")                                                                             \
    X(TRT, "Tracer Message Trace Tag")                                                                                 \
    X(TRX, "Tracer Message Output Context")                                                                            \
    X(TRO, "Tracer Message Output Tag")                                                                                \
    X(TRM, "Tracer Trace Mask")                                                                                        \
    X(TRB, "Tracer Trace Buffering")                                                                                   \
    X(TRL, "Tracer Trace Options")                                                                                     \
    X(VER, "PVM Version")                                                                                              \
    X(VCT, "Trace Event Count")                                                                                        \
    X(VID, "Trace Event ID")                                                                                           \
    X(WID, "Wait Identifier Number")

#endif
