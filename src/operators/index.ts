/** The operators that this package includes. */
import { cronJobOperator } from './cronjob/index.ts'
import { echoOperator } from './echo/index.ts'
import { memcachedOperator } from './memcached/index.ts'
import { mypodOperator } from './mypod/index.ts'
import { xxxOperator } from './xxx/index.ts'

export const shippedOperators = [mypodOperator, memcachedOperator, echoOperator, cronJobOperator, xxxOperator] as const
