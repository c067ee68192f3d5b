! nas_grid - one level of MG's grids at one task, and the operators of its V-cycle. grid.h describes them.
!
! A slab has the planes 1 to `planes`, with rows 1 to n of points 1 to n. Around them, at 0 and one after the last, lie
! copies of the next points. Sums along a row serve three points each, so they are computed once.
module nas_grid
  use team, only: dp
  implicit none
  private
  public :: grid, new_grid, grid_wrap, grid_residual, grid_smooth, grid_restrict, grid_interpolate, grid_squares

  type :: grid
    integer :: n = 0
    integer :: first = 0, planes = 0 ! of this task; `first` counts from 0
    real(dp), allocatable :: at(:, :, :)
  end type

contains

  function new_grid(n, first, planes) result(g)
    integer, intent(in) :: n, first, planes
    type(grid) :: g
    g%n = n
    g%first = first
    g%planes = planes
    allocate (g%at(0:n + 1, 0:n + 1, 0:planes + 1), source=0.0_dp)
  end function

  ! Sets the points at the sides of all inner planes from the opposite ones.
  subroutine grid_wrap(g)
    type(grid), intent(inout) :: g
    integer :: p
    do p = 1, g%planes
      g%at(0, 1:g%n, p) = g%at(g%n, 1:g%n, p)
      g%at(g%n + 1, 1:g%n, p) = g%at(1, 1:g%n, p)
      g%at(:, 0, p) = g%at(:, g%n, p)
      g%at(:, g%n + 1, p) = g%at(:, 1, p)
    end do
  end subroutine

  ! The sums of the four rows next to row y of plane p, and of the four diagonal ones.
  subroutine add_rows(a, n, planes, y, p, near, far)
    integer, intent(in) :: n, planes, y, p
    real(dp), intent(in) :: a(0:n + 1, 0:n + 1, 0:planes + 1)
    real(dp), intent(out) :: near(0:n + 1), far(0:n + 1)
    near = a(:, y - 1, p) + a(:, y + 1, p) + a(:, y, p - 1) + a(:, y, p + 1)
    far = a(:, y - 1, p - 1) + a(:, y + 1, p - 1) + a(:, y - 1, p + 1) + a(:, y + 1, p + 1)
  end subroutine

  ! r = r - A u. A has -8/3 at the point, 0 at its faces, 1/6 at its edges and 1/12 at its corners.
  subroutine grid_residual(u, r)
    type(grid), intent(in) :: u
    type(grid), intent(inout) :: r
    real(dp) :: near(0:u%n + 1), far(0:u%n + 1)
    integer :: n, y, p
    n = u%n
    do p = 1, u%planes
      do y = 1, n
        call add_rows(u%at, n, u%planes, y, p, near, far)
        r%at(1:n, y, p) = r%at(1:n, y, p) + 8 / 3.0_dp * u%at(1:n, y, p) - &
            1 / 6.0_dp * (far(1:n) + near(:n - 1) + near(2:)) - 1 / 12.0_dp * (far(:n - 1) + far(2:))
      end do
    end do
  end subroutine

  ! u = u + S r. S has -3/8 at the point, 1/32 at its faces, -1/64 at its edges and 0 at its corners.
  subroutine grid_smooth(r, u)
    type(grid), intent(in) :: r
    type(grid), intent(inout) :: u
    real(dp) :: near(0:u%n + 1), far(0:u%n + 1)
    integer :: n, y, p
    n = u%n
    do p = 1, u%planes
      do y = 1, n
        call add_rows(r%at, n, r%planes, y, p, near, far)
        u%at(1:n, y, p) = u%at(1:n, y, p) - 3 / 8.0_dp * r%at(1:n, y, p) + &
            1 / 32.0_dp * (r%at(:n - 1, y, p) + r%at(2:, y, p) + near(1:n)) - &
            1 / 64.0_dp * (far(1:n) + near(:n - 1) + near(2:))
      end do
    end do
  end subroutine

  ! coarse = restricted fine, for the planes `begin` to past - 1, counted from 0 at the first of all. A coarse point lies
  ! on the second of each two fine ones.
  subroutine grid_restrict(fine, coarse, begin, past)
    type(grid), intent(in) :: fine
    type(grid), intent(inout) :: coarse
    integer, intent(in) :: begin, past
    real(dp) :: near(0:fine%n + 1), far(0:fine%n + 1)
    integer :: n, plane, y, p
    n = fine%n
    do plane = begin, past - 1
      p = 2 * plane + 2 - fine%first
      do y = 1, coarse%n
        call add_rows(fine%at, n, fine%planes, 2 * y, p, near, far)
        coarse%at(1:coarse%n, y, plane + 1 - coarse%first) = 0.5_dp * fine%at(2:n:2, 2 * y, p) + &
            0.25_dp * (fine%at(1:n - 1:2, 2 * y, p) + fine%at(3:n + 1:2, 2 * y, p) + near(2:n:2)) + &
            0.125_dp * (near(1:n - 1:2) + near(3:n + 1:2) + far(2:n:2)) + 0.0625_dp * (far(1:n - 1:2) + far(3:n + 1:2))
      end do
    end do
  end subroutine

  ! fine = fine + interpolated coarse, also around the slab of fine. A fine row with an odd number lies between two coarse
  ! ones, and so does a plane, counted from the first of all: it gets the mean of the one, two or four coarse rows at it.
  subroutine grid_interpolate(coarse, fine)
    type(grid), intent(in) :: coarse
    type(grid), intent(inout) :: fine
    real(dp) :: mean(0:coarse%n + 1)
    integer :: n, p, y, plane, line, plane_after, line_after
    n = fine%n
    do p = 0, fine%planes + 1
      plane = (p + fine%first) / 2 - coarse%first
      plane_after = plane + modulo(p + fine%first, 2)
      do y = 0, n + 1
        line = y / 2
        line_after = line + modulo(y, 2)
        mean = 0.25_dp * (coarse%at(:, line, plane) + coarse%at(:, line_after, plane) + &
            coarse%at(:, line, plane_after) + coarse%at(:, line_after, plane_after))
        fine%at(0:n:2, y, p) = fine%at(0:n:2, y, p) + mean(:coarse%n)
        fine%at(1:n + 1:2, y, p) = fine%at(1:n + 1:2, y, p) + 0.5_dp * (mean(:coarse%n) + mean(1:))
      end do
    end do
  end subroutine

  function grid_squares(g) result(total)
    type(grid), intent(in) :: g
    real(dp) :: total
    total = sum(g%at(1:g%n, 1:g%n, 1:g%planes)**2)
  end function
end module
