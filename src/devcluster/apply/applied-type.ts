/** The type of an applied object. */
import type { ResourceInfo } from '../rest/resource-info.ts'

/** The properties of a resource type that server-side apply needs. */
export type AppliedType = Pick<ResourceInfo, 'group' | 'kind' | 'custom' | 'subresources' | 'goType' | 'schema' | 'schemaOf'>
