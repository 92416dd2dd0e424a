/** `HostPorts`: regularly finds the ports on which servers of the developer's machine listen. */
import { isDeepStrictEqual } from 'node:util'
import type { Clock, Timer } from '../../../../runtime/clock.ts'
import { listeningPorts } from './listening-ports.ts'

/** Time in milliseconds between two checks of the ports. */
const periodMs = 1000

export class HostPorts {
  readonly #clock: Clock
  readonly #onChange: (ports: readonly number[]) => void
  #isActive = false
  #timer: Timer | undefined
  #ports: readonly number[] = []

  /** @param onChange receives all ports after each change. */
  constructor(clock: Clock, onChange: (ports: readonly number[]) => void) {
    this.#clock = clock
    this.#onChange = onChange
  }

  get current(): readonly number[] {
    return this.#ports
  }

  /** Starts or stops the checks of the ports. After the checks have been stopped, `current` keeps its value. */
  setActive(isActive: boolean): void {
    if (isActive === this.#isActive) return
    this.#isActive = isActive
    this.#timer?.cancel()
    if (isActive) void this.#look()
  }

  async #look(): Promise<void> {
    const ports = await listeningPorts()
    if (!this.#isActive) return
    if (!isDeepStrictEqual(ports, this.#ports)) {
      this.#ports = ports
      this.#onChange(ports)
    }
    this.#timer?.cancel()
    this.#timer = this.#clock.after(periodMs, () => void this.#look())
  }
}
