/** The operators that ship with Proreus. */
import { mypodOperator } from './mypod/index.ts'

export const shippedOperators = [mypodOperator] as const
