/* tables.h - names of the reports' tables, for the papers' data and the experiments that fill them in. */
#ifndef PVMA_TABLES_H
#define PVMA_TABLES_H

#define FOUR_APIS_TABLE1 "Table 1: echo, two Sun 4/690, ASX-100"
#define FOUR_APIS_TABLE2 "Table 2: TCP echo on three networks"
#define FOUR_APIS_TABLE3 "Table 3: AAL5 echo, point to point"
#define FOUR_APIS_TABLE4 "Table 4: AAL5 echo through the switch"
#define FOUR_APIS_TABLE5 "Table 5: matrix multiplication on 2 x 2 SPARC 2"
#define FOUR_APIS_TABLE6 "Table 6: PDE on 2 x 2 SPARC 2"
#define FOUR_APIS_LOAD   "Section 4.2: PDE's load of the silent Ethernet, by a sniffer"
#define FOUR_APIS_RANGES "Section 3.2: sizes at which TCP without NODELAY is slow"

#define TUM_TABLE1 "Table 5.1: one-way latency, HP 735"
#define TUM_TABLE2 "Table 5.2: one-way latency, IBM RS/6000"
#define TUM_TABLE3 "Table 5.3, tests 16 and 17: PVM direct over ATM, throughput"
#define TUM_TABLE4 "Table 5.4, tests 20 and 21: PVM direct, one-way latency"
#define TUM_TESTS  "Tests 1 to 6: streams, receiver, 2^20 Mbit/s"
#define TUM_FORE   "Tests 4 and 9: Fore API, AAL5, streams, 2^20 Mbit/s"
#define TUM_ROUTE  "Tests 14, 15, 18: PVM's default route"

#define AN2_PARKING    "Table 1: parking lot, TTCP over TCP"
#define AN2_CONGESTION "Figure 11: six TCP sessions on one link, 1 s"
#define AN2_ECHO       "Figure 8: UDP echo under TTCP, relative degradation"

#define THESIS_VALIDATION "Validation: one cell, one switch, 140 Mbit/s"
#define THESIS_IDEAL      "Table 2.2: communication on an ideal ATM"
#define THESIS_LATENCY    "Section 5.3.4: mean latency of PDE1's messages"
#define THESIS_TOTALS     "Tables 2.3 and 2.4: total times on ATM"
#define THESIS_TABLE6_5   "Table 6.5: bandwidth of PDE1 by service"
#define THESIS_TABLE6_6   "Table 6.6: bandwidth of PDE2 by service"
#define THESIS_SHARES     "Section 6.2.3: share of the cells that go by ABR"

#endif
