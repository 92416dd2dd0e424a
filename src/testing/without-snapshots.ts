/** The methods `snapshot` and `restore` of a control plane whose API server is not embedded. Both reject. */
import { ProreusError } from '../api/errors.ts'
import type { ControlPlane } from './control-plane-types.ts'

const refuse = (): Promise<never> =>
  Promise.reject(new ProreusError('PRO_INPUT', 'Only the objects of the embedded API server can be restored: use the backend embedded.'))

export const withoutSnapshots: Pick<ControlPlane, 'snapshot' | 'restore'> = { snapshot: refuse, restore: refuse }
