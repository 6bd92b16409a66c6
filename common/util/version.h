/* version.h - the version every program prints and writes into the HEAD of its streams */
#ifndef TR_UTIL_VERSION_H
#define TR_UTIL_VERSION_H

#define TRUTILS_VERSION "0.1"

#endif
