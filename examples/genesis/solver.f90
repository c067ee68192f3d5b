! solver - SOLVER of the GENESIS suite in Fortran: a column of the quark propagator of lattice gauge theory. solver.c
! describes it.
!
! Shows   a decomposition of a periodic lattice, complex arrays in messages, sums over all tasks, collecting a result.
! Build   pvmf90 -O3 -o solver ../kernels/team_command.f90 ../kernels/team.f90 lattice.f90 solver.f90
! Run     ./solver --class S --tasks 4 --verify --stats
program solver
  use team
  use lattice
  implicit none
  integer, parameter :: iterations = 50, iterations_residual = 10, tag_column = 4
  real(sp), parameter :: kappa = 0.13
  real(dp), parameter :: roughness = 0.35_dp ! of the background: 0 is the free field
  real(dp), parameter :: pi = acos(-1.0_dp)
  ! What --verify permits.
  real(dp), parameter :: norm_deviation_max = 1e-5_dp, residual_deviation_max = 0.1_dp, wave_max = 2e-5_dp

  type(team_options) :: options
  integer :: hosts
  complex(sp), allocatable :: source(:, :, :, :), psi(:, :, :, :) ! (colour, spin, site, parity)
  complex(sp), allocatable :: odds(:, :, :), image(:, :, :), normal(:, :, :) ! of odd sites, or even ones
  real(dp), allocatable :: slices(:)                              ! |psi|**2 of each time slice
  real(dp) :: right_norm, right_residual                          ! by one task
  real(dp) :: quality, residual, wave, time_s
  logical :: right

  call team_start(team_kernel('solver', 'GENESIS SOLVER: a column of the quark propagator by conjugate gradients.', &
      'SWAT', 'S (4 * 4 * 4 * 8 sites), W (12 * 12 * 12 * 16), A (16 * 16 * 16 * 32), T (8 * 8 * 8 * 16: messages of ' // &
      'the thesis)', host_class='T'), options)
  call prepare
  call team_clock_start
  call solve
  call collect
  call team_clock_stop(time_s)
  right = .true.
  if (options%verify) then
    residual = whole_residual()
    wave = wave_difference()
    right = abs(sum(slices) / right_norm - 1) <= norm_deviation_max .and. &
        abs(residual / right_residual - 1) <= residual_deviation_max .and. wave <= wave_max
  end if
  if (team_rank == 0) call print_result
  if (options%stats) call team_report
  call team_end(right .or. team_rank > 0)

contains

  subroutine prepare
    integer :: lengths(4)
    call choose_problem(lengths)
    call team_broadcast(INTEGER4, lengths, 4)
    hosts = merge(1, 0, options%class == 'T' .and. team_size > 1)
    call lattice_make(lengths, team_rank - hosts, team_size - hosts, hosts)
    call set_background
    allocate (source(3, 4, sites, 0:1), psi(3, 4, sites, 0:1), source=(0.0_sp, 0.0_sp))
    allocate (odds(3, 4, sites), image(3, 4, sites), normal(3, 4, sites))
    allocate (slices(0:lengths(4) - 1), source=0.0_dp)
    if (sites > 0 .and. all(origin == 0)) source(1, 1, 1, even) = 1 ! one spin and colour at one site
  end subroutine

  subroutine choose_problem(lengths)
    integer, intent(out) :: lengths(4)
    select case (options%class)
    case ('S')
      lengths = [4, 4, 4, 8]
      right_norm = 2.097034006_dp
      right_residual = 6.897e-6_dp
    case ('W')
      lengths = [12, 12, 12, 16]
      right_norm = 1.414113292_dp
      right_residual = 7.937e-6_dp
    case ('A')
      lengths = [16, 16, 16, 32]
      right_norm = 1.419355095_dp
      right_residual = 8.228e-6_dp
    case default
      lengths = [8, 8, 8, 16]
      right_norm = 1.445980514_dp
      right_residual = 7.423e-6_dp
    end select
  end subroutine

  ! ---- the background ----

  ! A number for each site of the whole lattice; coordinates may be one step outside.
  real(dp) function key_of(n)
    integer, intent(in) :: n(4)
    integer :: mu
    key_of = 0
    do mu = 4, 1, -1
      key_of = key_of * whole(mu) + modulo(n(mu), whole(mu))
    end do
  end function

  subroutine set_background
    integer :: parity, site, mu
    do parity = even, odd
      do site = 1, sites
        do mu = 1, 4
          links(:, :, mu, site, parity) = lattice_random_matrix(4 * key_of(lattice_site(site, parity)) + mu - 1, roughness)
        end do
      end do
    end do
  end subroutine

  ! ---- conjugate gradients ----

  ! The sum of all tasks.
  real(dp) function norm(v)
    complex(sp), intent(in) :: v(3, 4, sites)
    integer :: i, s, c
    norm = 0
    do i = 1, sites
      do s = 1, 4
        do c = 1, 3
          norm = norm + real(v(c, s, i), dp)**2 + real(aimag(v(c, s, i)), dp)**2
        end do
      end do
    end do
    call team_sum(norm)
  end function

  ! r = A v = v - kappa**2 D_eo D_oe v, on the even sites
  subroutine apply_a(r, v)
    complex(sp), intent(out) :: r(3, 4, sites)
    complex(sp), intent(in) :: v(3, 4, sites)
    call apply_d(odds, v, odd)
    call apply_d(r, odds, even)
    r = v - kappa**2 * r
  end subroutine

  ! r = A^+ v = gamma_5 A gamma_5 v; changes v. gamma_5 negates the lower spins.
  subroutine apply_adjoint(r, v)
    complex(sp), intent(out) :: r(3, 4, sites)
    complex(sp), intent(inout) :: v(3, 4, sites)
    v(:, 3:4, :) = -v(:, 3:4, :)
    call apply_a(r, v)
    r(:, 3:4, :) = -r(:, 3:4, :)
  end subroutine

  ! Solves A^+ A v = b, from v = 0. quality is the norm of the residual over that of v.
  subroutine iterate(v, b)
    complex(sp), intent(inout) :: v(3, 4, sites)
    complex(sp), intent(in) :: b(3, 4, sites)
    complex(sp), allocatable :: r(:, :, :), p(:, :, :)
    real(dp) :: old, new, alpha
    integer :: i
    allocate (r(3, 4, sites), p(3, 4, sites))
    r = b
    p = b
    old = norm(r)
    do i = 1, iterations
      call apply_a(image, p)
      alpha = old / norm(image)
      call apply_adjoint(normal, image)
      v = v + real(alpha, sp) * p
      if (modulo(i, iterations_residual) == 0) then ! anew: the one that is only updated would drift away from it
        call apply_a(image, v)
        call apply_adjoint(normal, image)
        r = b - normal
      else
        r = r - real(alpha, sp) * normal
      end if
      new = norm(r)
      quality = sqrt(new / norm(v))
      p = r + real(new / old, sp) * p
      old = new
    end do
  end subroutine

  ! Solves on the even sites, and computes the odd ones.
  subroutine solve
    complex(sp), allocatable :: b(:, :, :)
    allocate (b(3, 4, sites))
    call apply_d(image, source(:, :, :, odd), even)
    image = source(:, :, :, even) + kappa * image
    call apply_adjoint(b, image)
    call iterate(psi(:, :, :, even), b)
    call apply_d(psi(:, :, :, odd), psi(:, :, :, even), odd)
    psi(:, :, :, odd) = source(:, :, :, odd) + kappa * psi(:, :, :, odd)
  end subroutine

  ! ---- the result ----

  ! Adds |psi|**2 of a block's sites to their time slices: the correlator of the pion, for our column.
  subroutine add_to_slices(column, origin_t, extent_t, block_sites)
    integer, intent(in) :: origin_t, extent_t, block_sites
    complex(sp), intent(in) :: column(3, 4, block_sites, 0:1)
    integer :: parity, i, s, c, slice
    do parity = even, odd
      do i = 1, block_sites
        slice = origin_t + (i - 1) / (block_sites / extent_t)
        do s = 1, 4
          do c = 1, 3
            slices(slice) = slices(slice) + real(column(c, s, i, parity), dp)**2 + &
                real(aimag(column(c, s, i, parity)), dp)**2
          end do
        end do
      end do
    end do
  end subroutine

  ! The first task gets the whole column, as a program does that writes it to a file.
  subroutine collect
    complex(sp), allocatable :: column(:, :, :, :)
    integer :: rank, origin_t, extent_t, block_sites
    if (team_rank > 0) then
      call team_send(0, tag_column, COMPLEX8, psi, 24 * sites)
      return
    end if
    if (hosts == 0) call add_to_slices(psi, origin(4), extent(4), sites)
    do rank = 1, team_size - 1
      call lattice_place(rank - hosts, team_size - hosts, origin_t, extent_t, block_sites)
      allocate (column(3, 4, block_sites, 0:1))
      call team_receive(rank, tag_column, COMPLEX8, column, 24 * block_sites)
      call add_to_slices(column, origin_t, extent_t, block_sites)
      deallocate (column)
    end do
  end subroutine

  ! ---- what must come out ----

  ! sqrt(|M psi - source|**2 / |source|**2) on the whole lattice
  real(dp) function whole_residual() result(ratio)
    real(dp) :: off, total
    integer :: parity
    off = 0
    total = 0
    do parity = even, odd
      call apply_d(image, psi(:, :, :, 1 - parity), parity)
      image = psi(:, :, :, parity) - kappa * image - source(:, :, :, parity)
      off = off + norm(image)
      total = total + norm(source(:, :, :, parity))
    end do
    ratio = sqrt(off / total)
  end function

  ! The colours' axes at a site.
  function axes(n)
    integer, intent(in) :: n(4)
    complex(sp) :: axes(3, 3)
    axes = lattice_random_matrix(key_of(n) + 0.5_dp, 2.0_dp)
  end function

  ! The free field, seen with other axes at each site: U_mu(n) = g(n) g(n + mu)^+.
  subroutine set_free_field
    integer :: parity, site, mu, n(4), next(4)
    do parity = even, odd
      do site = 1, sites
        n = lattice_site(site, parity)
        do mu = 1, 4
          next = n
          next(mu) = n(mu) + 1
          links(:, :, mu, site, parity) = matmul(axes(n), conjg(transpose(axes(next))))
        end do
      end do
    end do
  end subroutine

  ! A plane wave: g(n) chi exp(i p n) for all sites of a parity, where chi has one number for each spin.
  subroutine set_wave(v, chi, p, parity)
    complex(sp), intent(out) :: v(3, 4, sites)
    complex(sp), intent(in) :: chi(4)
    real(dp), intent(in) :: p(4)
    integer, intent(in) :: parity
    complex(sp) :: colours(3)
    integer :: site, s, n(4)
    do site = 1, sites
      n = lattice_site(site, parity)
      colours = sum(axes(n), 2) * cmplx(exp((0, 1) * sum(p * n)), kind=sp)
      do s = 1, 4
        v(:, s, site) = colours * chi(s)
      end do
    end do
  end subroutine

  ! gamma_mu chi, by its numbers: not made from what it is to check.
  function gamma_times(mu, chi) result(r)
    integer, intent(in) :: mu
    complex(sp), intent(in) :: chi(4)
    complex(sp) :: r(4)
    complex(sp), parameter :: i = (0, 1)
    select case (mu)
    case (1)
      r = i * [chi(4), chi(3), -chi(2), -chi(1)]
    case (2)
      r = [chi(4), -chi(3), -chi(2), chi(1)]
    case (3)
      r = i * [chi(3), -chi(4), -chi(1), chi(2)]
    case default
      r = [chi(3), chi(4), chi(1), chi(2)]
    end select
  end function

  ! The largest difference of D psi from what it must be for a plane wave: the sum over mu of 2 cos(p_mu) - 2 i gamma_mu
  ! sin(p_mu), times chi. Replaces the background.
  real(dp) function wave_difference() result(largest)
    complex(sp), parameter :: chi(4) = [(0.5, 0.0), (0.0, 0.25), (-0.75, 0.0), (0.5, -0.5)]
    complex(sp) :: expected(4)
    real(dp) :: p(4)
    integer :: parity, mu
    p = [(2 * pi * mu / whole(mu), mu=1, 4)]
    expected = 0
    do mu = 1, 4
      expected = expected + 2 * real(cos(p(mu)), sp) * chi - (0, 2) * real(sin(p(mu)), sp) * gamma_times(mu, chi)
    end do
    call set_free_field
    largest = 0
    do parity = even, odd
      call set_wave(odds, chi, p, 1 - parity)
      call apply_d(image, odds, parity)
      call set_wave(normal, expected, p, parity)
      if (sites > 0) largest = max(largest, real(maxval(abs(image - normal)), dp))
      if (.not. all(abs(image) <= huge(1.0_sp))) largest = huge(largest) ! a NaN is no number less than any
    end do
    call team_max(largest)
  end function

  subroutine print_result
    character(len=10) :: verdict
    verdict = ''
    if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
    print '(5(a, i0), a, es13.7, a, es8.2, a)', 'solver class ' // options%class // ': ', team_size, ' tasks, ', &
        whole(1), ' * ', whole(2), ' * ', whole(3), ' * ', whole(4), ' sites, ' // team_decimal(time_s, 4) // &
        ' s, |psi|^2 ', sum(slices), ', residual / psi ', quality, trim(verdict)
    print '(a, 3es11.4)', 'pion correlator at t = 0, 1, 2: ', slices(0:2)
    if (options%verify) print '(a, es10.4, a, f6.4, a, f3.1, 4(a, es7.1))', 'whole residual ', residual, &
        ', differs from that of one task by ', abs(residual / right_residual - 1), ' of at most ', &
        residual_deviation_max, ', |psi|^2 by ', abs(sum(slices) / right_norm - 1), ' of ', norm_deviation_max, &
        '; difference in a plane wave ', wave, ' of at most ', wave_max
  end subroutine
end program
