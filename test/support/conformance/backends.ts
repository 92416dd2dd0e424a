/** The control plane of the conformance tests. An environment variable selects it: the same cases run on every control plane. */
import type { Test } from 'tap'
import type { ControlPlane, ControlPlaneBackend, ControlPlaneOptions } from '../../../src/testing/control-plane-types.ts'
import { startControlPlane } from '../../../src/testing/control-plane.ts'

/** `PROREUS_BACKEND`: `embedded` (default), `binaries` or `existing`. */
const backend = (process.env.PROREUS_BACKEND || 'embedded') as ControlPlaneBackend

/** Starts a control plane for one test file, until the test ends. */
export async function conformanceControlPlane(t: Test, options: Omit<ControlPlaneOptions, 'backend'> = {}): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({ backend, ...options })
  t.teardown(() => controlPlane.stop())
  return controlPlane
}

/** Options for a tap test that needs a control plane started by the test. */
export const needsOwnControlPlane: { skip?: string } =
  backend === 'existing' ? { skip: 'an existing cluster cannot be started by the test' } : {}

/** Options for a tap test that needs a cluster without other writers. */
export const needsQuiet: { skip?: string } =
  backend === 'existing' ? { skip: 'the controllers of an existing cluster write meanwhile' } : {}

/** Options for a tap test that reads the requests that the API server received. */
export const needsRequests: { skip?: string } = backend === 'existing' ? { skip: 'the requests of an existing cluster cannot be read' } : {}
