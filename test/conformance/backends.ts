/** The control plane that the conformance tests run on: chosen outside of them, so that each case is written once. */
import type { Test } from 'tap'
import type { ControlPlane, ControlPlaneBackend, ControlPlaneOptions } from '../../src/testing/control-plane.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'

/** `PROREUS_BACKEND`: `embedded` (default), `binaries` or `existing`. */
const backend = (process.env.PROREUS_BACKEND || 'embedded') as ControlPlaneBackend

/** A control plane of its own for a test file; it ends with the test. */
export async function conformanceControlPlane(t: Test, options: Omit<ControlPlaneOptions, 'backend'> = {}): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({ backend, ...options })
  t.teardown(() => controlPlane.stop())
  return controlPlane
}

/** Options for a tap test about control planes that the test itself starts. */
export const needsOwnControlPlane: { skip?: string } = backend === 'existing' ? { skip: 'an existing cluster is not started here' } : {}

/** Options for a tap test during which nobody else may do anything to the cluster. */
export const needsQuiet: { skip?: string } = backend === 'existing' ? { skip: 'the controllers of an existing cluster act meanwhile' } : {}

/** Options for a tap test that asks which requests were received. */
export const needsRequests: { skip?: string } = backend === 'existing' ? { skip: 'an existing cluster does not tell its requests' } : {}
