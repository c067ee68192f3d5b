! nas_random - the random numbers of the NAS parallel benchmarks: x' = a x mod 2**46 with a = 5**13, uniform in (0, 1)
! as x / 2**46.
!
! Products of numbers below 2**46 need 92 bits. The halves of 23 bits keep all of them below 2**63.
module nas_random
  use, intrinsic :: iso_fortran_env, only: int64
  use team, only: dp
  implicit none
  private
  public :: random_next, random_after

  integer(int64), parameter :: half = 2_int64**23, modulus = 2_int64**46, factor = 5_int64**13
  real(dp), parameter :: scale = 1 / real(modulus, dp)

contains

  ! a b mod 2**46
  pure function product_of(a, b) result(c)
    integer(int64), intent(in) :: a, b
    integer(int64) :: c
    integer(int64) :: cross
    cross = iand(ishft(a, -23) * iand(b, half - 1) + iand(a, half - 1) * ishft(b, -23), half - 1)
    c = iand(ishft(cross, 23) + iand(a, half - 1) * iand(b, half - 1), modulus - 1)
  end function

  ! The next number after x, which becomes the state.
  function random_next(x) result(number)
    integer(int64), intent(inout) :: x
    real(dp) :: number
    x = product_of(factor, x)
    number = scale * real(x, dp)
  end function

  ! The state `steps` numbers after x.
  pure function random_after(x, steps) result(later)
    integer(int64), intent(in) :: x, steps
    integer(int64) :: later
    integer(int64) :: left, square
    later = x
    left = steps
    square = factor
    do while (left > 0)
      if (iand(left, 1_int64) == 1) later = product_of(later, square)
      square = product_of(square, square)
      left = left / 2
    end do
  end function
end module
