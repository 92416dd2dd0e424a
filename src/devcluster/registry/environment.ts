/** What the operations of the registry share. */
import type { Clock } from '../../api/clock.ts'
import type { Admission } from '../admission/admission.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { Representation } from './representation.ts'

export interface Environment {
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly admission: Admission
  readonly clock: Clock
  readonly representation: Representation
  readonly newUid: () => string
  /** What `generateName` appends. */
  readonly randomSuffix: () => string
  /** Namespaces get ServiceAccounts from a controller. */
  readonly hasServiceAccounts: boolean
}
