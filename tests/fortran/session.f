c     A program in fixed form that calls every routine, with fpvm3.h and
c     without interfaces, as programs of the last century do. The calls
c     are made from src/fortran/routines.txt.
      program session
      implicit none
      include 'fpvm3.h'
      include 'variables.inc'
      external PvmSum, handle
      integer ANYGOOD
      parameter (ANYGOOD = 1234567)
      include 'preparations.inc'
      include 'session.inc'
      call tell_all(74)
      end

      integer function handle(mid)
      integer mid
c     mid comes by value: it must be left alone here
      handle = 0
      end
