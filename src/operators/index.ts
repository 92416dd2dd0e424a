/** The operators that this package includes. */
import { mypodOperator } from './mypod/index.ts'

export const shippedOperators = [mypodOperator] as const
