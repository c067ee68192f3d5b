! lattice - a task's block of a four-dimensional periodic lattice, with its SU(3) matrices, and Wilson's D, the part of
! the fermion matrix that couples each site with its neighbours. For solver.f90; solver.c describes them.
!
! The sites of one parity of x + y + z + t are stored in the order of t, z, y and x. A row, all x of one y, z, t, has
! half of its sites in each parity: those with x = 2 h + shift, h = 0, 1 ... Coordinates begin at 0, indices at 1.
module lattice
  use team
  implicit none
  private
  public :: sp, even, odd, lattice_make, lattice_place, lattice_random_matrix, lattice_site, apply_d

  integer, parameter :: sp = kind(1.0), even = 0, odd = 1
  integer, parameter :: below = 0, above = 1, before = 2, after = 3 ! sides in -z, +z, -t, +t; side i touches ieor(i, 1)
  integer, parameter :: x = 1, y = 2, z = 3, t = 4

  integer, protected, public :: whole(4), extent(4), origin(4) ! of the lattice, and of the block
  integer, protected, public :: row, sites                    ! of one parity
  complex(sp), allocatable, public :: links(:, :, :, :, :)     ! (3, 3, mu, site, parity): U_mu, from the site onwards
  integer :: neighbours(0:3), side_sites(0:3)
  complex(sp), allocatable :: outgoing(:, :, :, :), incoming(:, :, :, :) ! (colour, spin, site, side)

contains

  ! ---- the block ----

  ! Whether the lattice can be cut into so many parts in a direction: each begins at an even site.
  logical function divides(parts, length)
    integer, intent(in) :: parts, length
    divides = modulo(length, parts) == 0 .and. modulo(length / parts, 2) == 0
  end function

  ! The number of parts in z, as near to a square as possible, or 0 if there is none.
  integer function parts_in_z(parts) result(best)
    integer, intent(in) :: parts
    integer :: pz
    best = 0
    do pz = 1, parts
      if (modulo(parts, pz) /= 0) cycle
      if (divides(pz, whole(z)) .and. divides(parts / pz, whole(t)) .and. (best == 0 .or. pz * pz <= parts)) best = pz
    end do
  end function

  ! Where block `number` of so many begins in t, its extent in t, and its sites.
  subroutine lattice_place(number, parts, origin_t, extent_t, block_sites)
    integer, intent(in) :: number, parts
    integer, intent(out) :: origin_t, extent_t, block_sites
    integer :: pz
    pz = parts_in_z(parts)
    extent_t = whole(t) / (parts / pz)
    origin_t = number / pz * extent_t
    block_sites = product(whole) / parts / 2
  end subroutine

  ! Block `number` of so many; the task of the first one has the rank `first_rank`. A host, number -1, has no sites.
  subroutine lattice_make(lengths, number, parts, first_rank)
    integer, intent(in) :: lengths(4), number, parts, first_rank
    integer :: pz, pt, bz, bt
    whole = lengths
    extent = 0
    origin = 0
    pz = parts_in_z(parts)
    if (pz == 0) call team_fail('the lattice cannot be divided in z and t among so many tasks')
    pt = parts / pz
    bz = modulo(number, pz)
    bt = number / pz
    neighbours = first_rank + [bt * pz + modulo(bz - 1, pz), bt * pz + modulo(bz + 1, pz), &
        modulo(bt - 1, pt) * pz + bz, modulo(bt + 1, pt) * pz + bz]
    if (number < 0) neighbours = -1
    if (number >= 0) extent = [whole(x), whole(y), whole(z) / pz, whole(t) / pt]
    if (number >= 0) origin = [0, 0, bz * extent(z), bt * extent(t)]
    row = extent(x) / 2
    sites = row * extent(y) * extent(z) * extent(t)
    side_sites = row * extent(y) * [extent(t), extent(t), extent(z), extent(z)]
    allocate (links(3, 3, 4, sites, 0:1))
    allocate (outgoing(3, 2, maxval(side_sites), 0:3), incoming(3, 2, maxval(side_sites), 0:3))
  end subroutine

  integer function shift(parity, j, k, l)
    integer, intent(in) :: parity, j, k, l
    shift = iand(j + k + l + parity, 1)
  end function

  ! What is before the first site of row y = j, z = k, t = l.
  integer function at(j, k, l)
    integer, intent(in) :: j, k, l
    at = ((l * extent(z) + k) * extent(y) + j) * row
  end function

  ! The coordinates in the whole lattice of a site of this parity.
  function lattice_site(index, parity) result(n)
    integer, intent(in) :: index, parity
    integer :: n(4), rest
    rest = (index - 1) / row
    n(y) = modulo(rest, extent(y))
    n(z) = modulo(rest / extent(y), extent(z))
    n(t) = rest / extent(y) / extent(z)
    n(x) = 2 * modulo(index - 1, row) + shift(parity, n(y), n(z), n(t))
    n = n + origin
  end function

  ! ---- SU(3) ----

  ! A number between -1 and 1 that looks random, the same for the same k on each task.
  real(dp) function noise(k)
    real(dp), intent(in) :: k
    real(dp) :: v
    v = 43758.5453_dp * sin(12.9898_dp * k + 4.1414_dp)
    noise = 2 * (v - floor(v)) - 1
  end function

  ! An SU(3) matrix that looks random: 1 and noise of this amplitude, made orthonormal.
  function lattice_random_matrix(key, amplitude) result(u)
    real(dp), intent(in) :: key, amplitude
    complex(sp) :: u(3, 3)
    real(dp) :: k
    integer :: i, j
    do i = 1, 2
      do j = 1, 3
        k = 18 * key + 6 * (i - 1) + 2 * (j - 1)
        u(i, j) = cmplx(merge(1, 0, i == j) + amplitude * noise(k), amplitude * noise(k + 1), sp)
      end do
    end do
    u(1, :) = u(1, :) / sqrt(sum(abs(u(1, :))**2))
    u(2, :) = u(2, :) - dot_product(u(1, :), u(2, :)) * u(1, :)
    u(2, :) = u(2, :) / sqrt(sum(abs(u(2, :))**2))
    do j = 1, 3
      u(3, j) = conjg(u(1, modulo(j, 3) + 1) * u(2, modulo(j + 1, 3) + 1) - &
          u(1, modulo(j + 1, 3) + 1) * u(2, modulo(j, 3) + 1))
    end do
  end function

  ! ---- D ---- see dirac.c for the gamma matrices

  elemental complex(sp) function times_i(a)
    complex(sp), intent(in) :: a
    times_i = cmplx(-aimag(a), real(a), sp)
  end function

  ! The half spinor of (1 - sign gamma_mu) psi.
  pure function project(psi, mu, sign) result(half)
    complex(sp), intent(in) :: psi(3, 4)
    integer, intent(in) :: mu, sign
    complex(sp) :: half(3, 2)
    select case (mu)
    case (x)
      half(:, 1) = times_i(psi(:, 4))
      half(:, 2) = times_i(psi(:, 3))
    case (y)
      half(:, 1) = psi(:, 4)
      half(:, 2) = -psi(:, 3)
    case (z)
      half(:, 1) = times_i(psi(:, 3))
      half(:, 2) = -times_i(psi(:, 4))
    case default
      half = psi(:, 3:4)
    end select
    half = psi(:, 1:2) - sign * half
  end function

  ! Adds the spinor whose half this is.
  pure subroutine add_whole(total, half, mu, sign)
    complex(sp), intent(inout) :: total(3, 4)
    complex(sp), intent(in) :: half(3, 2)
    integer, intent(in) :: mu, sign
    total(:, 1:2) = total(:, 1:2) + half
    select case (mu)
    case (x)
      total(:, 3) = total(:, 3) + sign * times_i(half(:, 2))
      total(:, 4) = total(:, 4) + sign * times_i(half(:, 1))
    case (y)
      total(:, 3) = total(:, 3) + sign * half(:, 2)
      total(:, 4) = total(:, 4) - sign * half(:, 1)
    case (z)
      total(:, 3) = total(:, 3) + sign * times_i(half(:, 1))
      total(:, 4) = total(:, 4) - sign * times_i(half(:, 2))
    case default
      total(:, 3:4) = total(:, 3:4) - sign * half
    end select
  end subroutine

  pure function times(u, half) result(r)
    complex(sp), intent(in) :: u(3, 3), half(3, 2)
    complex(sp) :: r(3, 2)
    integer :: s
    do s = 1, 2
      r(:, s) = u(:, 1) * half(1, s) + u(:, 2) * half(2, s) + u(:, 3) * half(3, s)
    end do
  end function

  pure function times_adjoint(u, half) result(r)
    complex(sp), intent(in) :: u(3, 3), half(3, 2)
    complex(sp) :: r(3, 2)
    integer :: s, i
    do s = 1, 2
      do i = 1, 3
        r(i, s) = conjg(u(1, i)) * half(1, s) + conjg(u(2, i)) * half(2, s) + conjg(u(3, i)) * half(3, s)
      end do
    end do
  end function

  ! The term of psi(n + mu), and that of psi(n - mu), whose link begins there.
  pure subroutine add_forward(total, psi, link, mu)
    complex(sp), intent(inout) :: total(3, 4)
    complex(sp), intent(in) :: psi(3, 4), link(3, 3)
    integer, intent(in) :: mu
    call add_whole(total, times(link, project(psi, mu, 1)), mu, 1)
  end subroutine

  pure subroutine add_backward(total, psi, link, mu)
    complex(sp), intent(inout) :: total(3, 4)
    complex(sp), intent(in) :: psi(3, 4), link(3, 3)
    integer, intent(in) :: mu
    call add_whole(total, times_adjoint(link, project(psi, mu, -1)), mu, -1)
  end subroutine

  ! Adds the terms of both neighbours in direction mu to a site; `next` and `previous` are 0 if in another block.
  subroutine add_neighbours(total, psi, parity, site, next, previous, mu)
    complex(sp), intent(inout) :: total(3, 4)
    complex(sp), intent(in) :: psi(3, 4, sites)
    integer, intent(in) :: parity, site, next, previous, mu
    if (next > 0) call add_forward(total, psi(:, :, next), links(:, :, mu, site, parity), mu)
    if (previous > 0) call add_backward(total, psi(:, :, previous), links(:, :, mu, previous, 1 - parity), mu)
  end subroutine

  ! D psi of a row, without the terms that come from other blocks.
  subroutine apply_to_row(total, psi, parity, j, k, l)
    complex(sp), intent(inout) :: total(3, 4, sites)
    complex(sp), intent(in) :: psi(3, 4, sites)
    integer, intent(in) :: parity, j, k, l
    integer :: h, i, s, above_row, below_row, after_row, before_row, next_y, previous_y
    s = shift(parity, j, k, l)
    next_y = at(modulo(j + 1, extent(y)), k, l)
    previous_y = at(modulo(j - 1, extent(y)), k, l)
    above_row = at(j, k + 1, l)
    below_row = at(j, k - 1, l)
    after_row = at(j, k, l + 1)
    before_row = at(j, k, l - 1)
    do h = 1, row
      i = at(j, k, l) + h
      total(:, :, i) = 0
      call add_neighbours(total(:, :, i), psi, parity, i, i - h + modulo(h - 1 + s, row) + 1, &
          i - h + modulo(h - 2 + s, row) + 1, x)
      call add_neighbours(total(:, :, i), psi, parity, i, next_y + h, previous_y + h, y)
      call add_neighbours(total(:, :, i), psi, parity, i, merge(above_row + h, 0, k < extent(z) - 1), &
          merge(below_row + h, 0, k > 0), z)
      call add_neighbours(total(:, :, i), psi, parity, i, merge(after_row + h, 0, l < extent(t) - 1), &
          merge(before_row + h, 0, l > 0), t)
    end do
  end subroutine

  ! ---- halos ----

  ! The sites of a side, in the order of the other coordinates.
  function sites_of_side(s) result(list)
    integer, intent(in) :: s
    integer :: list(side_sites(s)), first(4), last(4), h, j, k, l
    first = 0
    last = extent - 1
    if (s == below) last(z) = 0
    if (s == above) first(z) = extent(z) - 1
    if (s == before) last(t) = 0
    if (s == after) first(t) = extent(t) - 1
    list = [((((at(j, k, l) + h, h=1, row), j=0, extent(y) - 1), k=first(z), last(z)), l=first(t), last(t))]
  end function

  integer function direction(s)
    integer, intent(in) :: s
    direction = merge(z, t, s <= above)
  end function

  ! The neighbour below needs our (1 - gamma) psi for its forward terms and has the links for them. The one above needs
  ! our (1 + gamma) psi times our links. `parity` is that of D psi.
  subroutine pack_side(psi, parity, s)
    complex(sp), intent(in) :: psi(3, 4, sites)
    integer, intent(in) :: parity, s
    integer :: list(side_sites(s)), i, mu
    list = sites_of_side(s)
    mu = direction(s)
    do i = 1, side_sites(s)
      if (s == below .or. s == before) outgoing(:, :, i, s) = project(psi(:, :, list(i)), mu, 1)
      if (s == above .or. s == after) outgoing(:, :, i, s) = &
          times_adjoint(links(:, :, mu, list(i), 1 - parity), project(psi(:, :, list(i)), mu, -1))
    end do
  end subroutine

  subroutine add_side(total, parity, s)
    complex(sp), intent(inout) :: total(3, 4, sites)
    integer, intent(in) :: parity, s
    integer :: list(side_sites(s)), i, mu
    list = sites_of_side(s)
    mu = direction(s)
    do i = 1, side_sites(s)
      if (s == below .or. s == before) call add_whole(total(:, :, list(i)), incoming(:, :, i, s), mu, -1)
      if (s == above .or. s == after) call add_whole(total(:, :, list(i)), &
          times(links(:, :, mu, list(i), parity), incoming(:, :, i, s)), mu, 1)
    end do
  end subroutine

  ! What goes out on side s comes in on side ieor(s, 1) of the neighbour, which may be this block itself.
  subroutine exchange
    integer :: s
    do s = below, after
      if (neighbours(s) == team_rank) incoming(:, :, :, ieor(s, 1)) = outgoing(:, :, :, s)
      if (neighbours(s) == team_rank .or. neighbours(s) < 0) cycle
      call team_send(neighbours(s), s, COMPLEX8, outgoing(1, 1, 1, s), 6 * side_sites(s))
    end do
    do s = below, after
      if (neighbours(s) == team_rank .or. neighbours(s) < 0) cycle
      call team_receive(neighbours(s), ieor(s, 1), COMPLEX8, incoming(1, 1, 1, s), 6 * side_sites(s))
    end do
  end subroutine

  ! total = D psi for the sites of `parity`; psi has those of the other one. All tasks call it.
  subroutine apply_d(total, psi, parity)
    complex(sp), intent(out) :: total(3, 4, sites)
    complex(sp), intent(in) :: psi(3, 4, sites)
    integer, intent(in) :: parity
    integer :: j, k, l, s
    do s = below, after
      call pack_side(psi, parity, s)
    end do
    call exchange
    do l = 0, extent(t) - 1
      do k = 0, extent(z) - 1
        do j = 0, extent(y) - 1
          call apply_to_row(total, psi, parity, j, k, l)
        end do
      end do
    end do
    do s = below, after
      call add_side(total, parity, s)
    end do
  end subroutine
end module
