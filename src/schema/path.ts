/** Field paths as the API server writes them. */
import type { FieldError } from '../api/field-error.ts'
import { invalid } from '../api/field-error.ts'

/** What the API server writes for an error that it gives no field. */
export const noField = '<nil>'

/** `spec.name`; below the root just `spec`. */
export function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** The same in errors of lists and embedded resources, where a field without a name looks like an index. */
export function fieldChildPath(path: string, key: string): string {
  return key === '' ? `${path}[]` : childPath(path, key)
}

export function indexPath(path: string, index: number): string {
  return `${path}[${index}]`
}

/** A map's key, as list and embedded-resource checks write it. */
export function keyPath(path: string, key: string): string {
  return `${path}[${key}]`
}

/** The path in a field error: the root has none. */
export function fieldOf(path: string): string {
  return path === '' ? noField : path
}

/** An error whose text carries its own place. */
export function childless(text: string): FieldError {
  return invalid(noField, '', text)
}
