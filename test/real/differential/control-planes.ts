/** Starts a real and an embedded control plane with the same options. */
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import { startControlPlane } from '../../../src/testing/control-plane.ts'
import type { Sides } from './player.ts'
import type { Scenario } from './scenario.ts'

export interface BothControlPlanes extends Sides<ControlPlane> {
  stop(): Promise<void>
}

/** Starts both control planes for the scenarios. `controllers` must be equal in all scenarios, because it applies to the whole run. */
export async function startControlPlanes(scenarios: readonly Scenario[]): Promise<BothControlPlanes> {
  const options = {
    controllers: scenarios.some(({ controllers }) => controllers),
    users: scenarios.flatMap(({ users }) => users),
  }
  const [real, embedded] = await Promise.allSettled([
    startControlPlane({ backend: 'binaries', ...options }),
    startControlPlane({ backend: 'embedded', ...options }),
  ])
  if (real.status === 'rejected' || embedded.status === 'rejected') {
    // If one control plane fails to start, the other one is stopped.
    for (const one of [real, embedded]) if (one.status === 'fulfilled') await one.value.stop()
    throw new Error('the control planes did not both start', { cause: [real, embedded].find(({ status }) => status === 'rejected') })
  }
  return {
    real: real.value,
    embedded: embedded.value,
    async stop() {
      await Promise.all([real.value.stop(), embedded.value.stop()])
    },
  }
}
