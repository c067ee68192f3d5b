! cg_matrix - the sparse matrix of NAS CG: symmetric, positive definite, with a random pattern of nonzeros.
!
! It is  sum over i of w_i v_i v_i' + (0.1 - shift) I.  Each v_i has `nonzeros` random elements at random places, and
! 1/2 at place i; the weights w_i fall from 1 to 0.1 in a geometric series.
module cg_matrix
  use, intrinsic :: iso_fortran_env, only: int64
  use team, only: dp
  use nas_random
  implicit none
  private
  public :: make_matrix

  integer(int64), parameter :: seed = 314159265
  real(dp), parameter :: condition = 0.1_dp ! the reciprocal of the condition number of the sum

  ! The vectors: the elements of v_i are value(1:count(i), i), at place(1:count(i), i).
  integer, allocatable :: count(:), place(:, :)
  real(dp), allocatable :: value(:, :)

contains

  ! Places are drawn from the next power of two; those beyond n, and those drawn before, are drawn again.
  subroutine make_vector(n, nonzeros, i, state)
    integer, intent(in) :: n, nonzeros, i
    integer(int64), intent(inout) :: state
    real(dp) :: drawn
    integer :: range, at, k
    range = 1
    do while (range < n)
      range = 2 * range
    end do
    k = 0
    do while (k < nonzeros)
      drawn = random_next(state)
      at = int(range * random_next(state)) + 1
      if (at > n .or. any(place(1:k, i) == at)) cycle
      k = k + 1
      value(k, i) = drawn
      place(k, i) = at
    end do
    at = findloc(place(1:k, i), i, dim=1)
    if (at == 0) at = k + 1
    count(i) = max(k, at)
    place(at, i) = i
    value(at, i) = 0.5_dp
  end subroutine

  subroutine make_vectors(n, nonzeros)
    integer, intent(in) :: n, nonzeros
    integer(int64) :: state
    real(dp) :: ignored
    integer :: i
    allocate (count(n), place(nonzeros + 1, n), value(nonzeros + 1, n))
    state = seed
    ignored = random_next(state) ! NAS draws one number before
    do i = 1, n
      call make_vector(n, nonzeros, i, state)
    end do
  end subroutine

  ! Which vectors have an element in each row: those of row k are vector(start(k):start(k+1)-1), and its index in them.
  subroutine find_uses(n, start, vector, at)
    integer, intent(in) :: n
    integer, allocatable, intent(out) :: start(:), vector(:), at(:)
    integer :: next(n), i, k, row
    allocate (start(n + 1), vector(sum(count)), at(sum(count)))
    next = 0
    do i = 1, n
      do k = 1, count(i)
        next(place(k, i)) = next(place(k, i)) + 1
      end do
    end do
    start(1) = 1
    do row = 1, n
      start(row + 1) = start(row) + next(row)
    end do
    next = start(1:n)
    do i = 1, n
      do k = 1, count(i)
        vector(next(place(k, i))) = i
        at(next(place(k, i))) = k
        next(place(k, i)) = next(place(k, i)) + 1
      end do
    end do
  end subroutine

  ! Sorts a few integers in place, by insertion.
  pure subroutine sort(list)
    integer, intent(inout) :: list(:)
    integer :: k, at, item
    do k = 2, size(list)
      item = list(k)
      at = k - 1
      do while (at >= 1)
        if (list(at) <= item) exit
        list(at + 1) = list(at)
        at = at - 1
      end do
      list(at + 1) = item
    end do
  end subroutine

  ! All n rows: the elements of row k are elements(start(k):start(k+1)-1), in these columns.
  subroutine make_matrix(n, nonzeros, shift, start, column, elements)
    integer, intent(in) :: n, nonzeros
    real(dp), intent(in) :: shift
    integer, allocatable, intent(out) :: start(:), column(:)
    real(dp), allocatable, intent(out) :: elements(:)
    integer, allocatable :: first_use(:), vector(:), at(:)
    real(dp) :: row(n), weight
    logical :: used(n)
    integer :: columns(n), width, k, use_at, i
    call make_vectors(n, nonzeros)
    call find_uses(n, first_use, vector, at)
    allocate (start(n + 1), column(n * (nonzeros + 1)**2), elements(n * (nonzeros + 1)**2))
    row = 0
    used = .false.
    start(1) = 1
    do k = 1, n
      width = 0
      do use_at = first_use(k), first_use(k + 1) - 1
        i = vector(use_at)
        weight = condition**(real(i - 1, dp) / n)
        call add_vector(i, value(at(use_at), i) * weight)
      end do
      row(k) = row(k) + condition - shift ! v_k has an element there
      call sort(columns(1:width))
      start(k + 1) = start(k) + width
      column(start(k):start(k + 1) - 1) = columns(1:width)
      elements(start(k):start(k + 1) - 1) = row(columns(1:width))
      row(columns(1:width)) = 0
      used(columns(1:width)) = .false.
    end do
    deallocate (count, place, value)

  contains

    subroutine add_vector(i, factor)
      integer, intent(in) :: i
      real(dp), intent(in) :: factor
      integer :: m, to
      do m = 1, count(i)
        to = place(m, i)
        if (.not. used(to)) then
          width = width + 1
          columns(width) = to
        end if
        used(to) = .true.
        row(to) = row(to) + value(m, i) * factor
      end do
    end subroutine
  end subroutine
end module
