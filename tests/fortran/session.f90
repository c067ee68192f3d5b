! The same calls in free form with the module pvm; the compiler checks them against its interfaces.
module handlers
contains
  integer function handle(mid)
    integer, value :: mid
    handle = min(mid, 0)
  end function
end module

program session
  use pvm
  use handlers
  implicit none
  interface
    subroutine tell_begin(name)
      character(len=*), intent(in) :: name
    end subroutine
    subroutine tell_call(name)
      character(len=*), intent(in) :: name
    end subroutine
    subroutine tell_int(value)
      integer, intent(in) :: value
    end subroutine
    subroutine tell_text(text)
      character(len=*), intent(in) :: text
    end subroutine
    subroutine tell_end(result, expected)
      integer, intent(in) :: result, expected
    end subroutine
    subroutine tell_all(least)
      integer, intent(in) :: least
    end subroutine
  end interface
  integer, parameter :: ANYGOOD = 1234567
  include 'variables.inc'
  include 'preparations.inc'
  include 'session.inc'
  call tell_all(74)
end program
