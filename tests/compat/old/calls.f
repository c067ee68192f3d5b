      program calls
c     Calls the stubs of stubs.m4, and prints what lengths they get.
      character*7 seven
      character*300 large
      character empty*(0)
      integer n, m, lengths(3), manytexts
      external onetext, twotexts, manytexts
      seven = 'abc'
      large = ' '
      large(299:299) = 'x'
      call onetext(seven, n, m)
      print *, 'one', n, m
      call onetext(large, n, m)
      print *, 'large', n, m
      call onetext(empty, n, m)
      print *, 'empty', n, m
      n = 0
      call twotexts(seven, n, large, lengths)
      print *, 'two', n, lengths(1), lengths(2)
      n = 0
      call twotexts(large, n, empty, lengths)
      print *, 'two', n, lengths(1), lengths(2)
      n = manytexts(1, 2, 'four', 4, 8, large, 16, seven, lengths)
      print *, 'many', n, lengths
      end
