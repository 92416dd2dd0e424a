/** `AppliedType`: a resource type with only the properties that server-side apply needs. */
import type { ResourceInfo } from '../rest/resource-info.ts'

/** A resource type, with the properties that server-side apply needs. */
export type AppliedType = Pick<ResourceInfo, 'group' | 'kind' | 'custom' | 'subresources' | 'goType' | 'schema' | 'schemaOf'>
