/** The operators that are part of this package. */
import { mypodOperator } from './mypod/index.ts'

export const shippedOperators = [mypodOperator] as const
