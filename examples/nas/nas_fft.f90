! nas_fft - discrete Fourier transforms of several sequences at once, without scaling: element k becomes the sum of
! x(j) exp(-2 pi i j k / n), or of x(j) exp(2 pi i j k / n) if it is the inverse.
!
! Stockham's algorithm: each pass reads one array and writes the other, so that no elements have to be put in order.
! Passes are of radix 4, the last one of radix 2 if n is not a power of four.
module nas_fft
  use team, only: dp
  implicit none
  private
  public :: fft_batch, fft_roots, fft

  integer, parameter :: fft_batch = 8
  real(dp), parameter :: pi = acos(-1.0_dp)

contains

  ! exp(-2 pi i k / n)
  function fft_roots(n) result(roots)
    integer, intent(in) :: n
    complex(dp) :: roots(0:n - 1)
    integer :: k
    roots = [(exp(cmplx(0, -2 * pi * k / n, dp)), k=0, n - 1)]
  end function

  ! Transforms the sequences x(b, 0), x(b, 1) ... of a batch; n is a power of two.
  subroutine fft(x, n, roots, inverse)
    integer, intent(in) :: n
    complex(dp), intent(inout) :: x(fft_batch, 0:n - 1)
    complex(dp), intent(in) :: roots(0:n - 1)
    logical, intent(in) :: inverse
    complex(dp) :: y(fft_batch, 0:n - 1)
    integer :: length
    logical :: in_x
    length = n
    in_x = .true.
    do while (length > 1)
      if (in_x) then
        call pass(x, y, n, length, roots, inverse)
      else
        call pass(y, x, n, length, roots, inverse)
      end if
      in_x = .not. in_x
      length = length / 4
    end do
    if (.not. in_x) x = y
  end subroutine

  ! One pass over sequences of `length` elements, of which there are n / length in each of the batch.
  subroutine pass(x, y, n, length, roots, inverse)
    integer, intent(in) :: n, length
    complex(dp), intent(in) :: x(fft_batch * n), roots(0:n - 1)
    complex(dp), intent(out) :: y(fft_batch * n)
    logical, intent(in) :: inverse
    complex(dp) :: w(3)
    integer :: count, quarter, p, k
    count = fft_batch * n / length
    if (length == 2) then
      y(:count) = x(:count) + x(count + 1:)
      y(count + 1:) = x(:count) - x(count + 1:)
      return
    end if
    quarter = length / 4
    do p = 0, quarter - 1
      w = [(roots(p * k * n / length), k=1, 3)]
      if (inverse) w = conjg(w)
      call butterfly(x(count * p + 1), y(4 * count * p + 1), w, count, count * quarter, merge(-1, 1, inverse))
    end do
  end subroutine

  ! Four elements of each of `count` sequences, which lie `apart`, become four neighbours.
  subroutine butterfly(x, y, w, count, apart, direction)
    integer, intent(in) :: count, apart, direction
    complex(dp), intent(in) :: x(0:apart - 1, 0:*), w(3)
    complex(dp), intent(out) :: y(0:count - 1, 0:3)
    complex(dp) :: even, odd, difference, turned
    integer :: q
    do q = 0, count - 1
      even = x(q, 0) + x(q, 2)
      odd = x(q, 1) + x(q, 3)
      difference = x(q, 0) - x(q, 2)
      turned = direction * cmplx(aimag(x(q, 1) - x(q, 3)), -real(x(q, 1) - x(q, 3)), dp)
      y(q, 0) = even + odd
      y(q, 1) = w(1) * (difference + turned)
      y(q, 2) = w(2) * (even - odd)
      y(q, 3) = w(3) * (difference - turned)
    end do
  end subroutine
end module
