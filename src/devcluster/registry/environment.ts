/** The dependencies that all operations of the registry share. */
import type { Clock } from '../../runtime/clock.ts'
import type { Authorizer } from '../access/authorizer.ts'
import type { Admission } from '../admission/admission.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { Identities } from './identities.ts'
import type { Representation } from './representation.ts'

export interface Environment extends Identities {
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly admission: Admission
  /**
   * If a PUT or PATCH creates an object, checks that the user may create the object. The HTTP layer authorizes only the PUT or PATCH
   * itself.
   */
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly representation: Representation
  /** True when a controller creates the default ServiceAccount of each namespace. */
  readonly hasServiceAccounts: boolean
}
