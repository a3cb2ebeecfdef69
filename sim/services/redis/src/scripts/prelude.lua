-- What scripts find around them. Runs once for each interpreter, before any script, with all of Lua's own libraries;
-- answers the table that becomes the globals of scripts, and the function that runs them.
--
-- `host` has what only the server can do.
local host = ...

local raw_error, raw_pcall, raw_xpcall = error, pcall, xpcall
local raw_type, raw_tostring, raw_rawset, raw_setmetatable = type, tostring, rawset, setmetatable
local raw_getmetatable, raw_rawget, raw_next, raw_select = getmetatable, rawget, next, select

-- Tables that scripts may not change: what is in them is behind a table that stays empty.
local sealed, behind = {}, {}

local function read_only(_, _, _)
  raw_error('Attempt to modify a readonly table', 2)
end

local function seal(content, missing)
  local face = {}
  if missing then
    raw_setmetatable(content, { __index = missing })
  end
  raw_setmetatable(face, { __index = content, __newindex = read_only })
  sealed[face] = true
  behind[face] = content
  return face
end

-- Errors of commands end the script, unless it catches them, and then it sees their text. A script that the server
-- has cut cannot catch that.
local function own(err)
  if raw_type(err) == 'userdata' and err ~= host.libraries.cjson.null then
    local text, alone = host.text_of(err)
    if text then
      return alone and text or { err = text }
    end
    raw_error(err, 0)
  end
  return err
end

local function caught(ok, err, ...)
  if ok then
    return ok, err, ...
  end
  err = own(err)
  if raw_type(err) == 'table' then
    local text = err.err
    if raw_type(text) == 'string' or raw_type(text) == 'number' then
      err = text
    end
  end
  return ok, err, ...
end

local function thrown(ok, err, ...)
  if ok then
    return ok, err, ...
  end
  return ok, own(err), ...
end

local function reply_of(field)
  return function(...)
    local text = ...
    if raw_select('#', ...) ~= 1 or raw_type(text) ~= 'string' then
      return { err = 'ERR wrong number or type of arguments' }
    end
    if field == 'err' then
      if text:sub(1, 1) == '-' then
        text = text:sub(2)
      end
      if not text:find(' ', 1, true) then
        text = 'ERR ' .. text
      end
    end
    return { [field] = text }
  end
end

local redis = {
  call = host.call,
  pcall = host.pcall,
  error_reply = reply_of('err'),
  status_reply = reply_of('ok'),
  sha1hex = host.sha1hex,
  log = host.log,
  setresp = host.setresp,
  set_repl = host.set_repl,
  replicate_commands = function() return true end,
  breakpoint = function() return false end,
  debug = function() end,
  acl_check_cmd = function() return true end,
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  REDIS_VERSION = '7.0.15', REDIS_VERSION_NUM = 0x0007000f,
}

-- A library of the server's. What would set it for the scripts of others, too, is not modelled.
local function library(name, settings)
  local content = host.libraries[name]
  for _, key in ipairs(settings) do
    content[key] = host.not_modelled(name .. '.' .. key)
  end
  return seal(content)
end

math.random = function(...)
  local count, r = raw_select('#', ...), host.random()
  local low, high = ...
  if count == 0 then
    return r
  elseif count == 1 then
    low, high = 1, low
  elseif count > 2 then
    raw_error('wrong number of arguments', 2)
  end
  if low > high then
    raw_error('bad argument to \'random\' (interval is empty)', 2)
  end
  return math.floor(r * (high - low + 1)) + low
end
math.randomseed = function(seed) host.seed(seed) end

-- Where something is in memory differs from run to run.
local function name_of(value)
  local kind = raw_type(value)
  local meta = raw_getmetatable(value)
  if (kind == 'table' and not (meta and meta.__tostring)) or kind == 'function' or kind == 'thread' then
    return kind .. ': 0x000000000000'
  end
  return raw_tostring(value)
end

string.dump = host.not_modelled('string.dump')
raw_getmetatable('').__metatable = {}

local globals = {
  assert = assert, collectgarbage = function() return 0 end,
  error = error, gcinfo = function() return 0, 0 end, ipairs = ipairs, load = load, loadstring = loadstring,
  next = function(t, k) return raw_next(behind[t] or t, k) end,
  pairs = function(t) return raw_next, behind[t] or t, nil end,
  rawequal = rawequal, select = select, tonumber = tonumber, tostring = name_of, type = type, unpack = unpack,
  _VERSION = _VERSION,
  getmetatable = function(t)
    if sealed[t] then
      return nil
    end
    return raw_getmetatable(t)
  end,
  setmetatable = function(t, meta)
    if sealed[t] then
      raw_error('Attempt to modify a readonly table', 0)
    end
    return raw_setmetatable(t, meta)
  end,
  rawget = function(t, k) return raw_rawget(behind[t] or t, k) end,
  rawset = function(t, k, v)
    if sealed[t] then
      raw_error('Attempt to modify a readonly table', 0)
    end
    return raw_rawset(t, k, v)
  end,
  pcall = function(...) return caught(raw_pcall(...)) end,
  xpcall = function(run, handle)
    return thrown(raw_xpcall(run, function(err) return handle(own(err)) end))
  end,
  coroutine = seal({
    create = coroutine.create, status = coroutine.status, yield = coroutine.yield, wrap = coroutine.wrap,
    running = coroutine.running,
    resume = function(...) return thrown(coroutine.resume(...)) end,
  }),
  string = seal(string), table = seal(table), math = seal(math),
  redis = seal(redis), bit = library('bit', {}), cmsgpack = library('cmsgpack', {}), struct = library('struct', {}),
  cjson = library('cjson', {
    'encode_sparse_array', 'encode_max_depth', 'decode_max_depth', 'encode_number_precision', 'encode_keep_buffer',
    'encode_invalid_numbers', 'decode_invalid_numbers', 'new',
  }),
}

local face = seal(globals, function(_, name)
  raw_error("Script attempted to access nonexistent global variable '" .. raw_tostring(name) .. "'", 2)
end)
globals._G = face

-- What an error becomes at the top: a table with its text and the line in which it came about.
local function explain(err)
  if raw_type(err) == 'userdata' and err ~= host.libraries.cjson.null then
    local text, alone = host.text_of(err)
    if not text then
      return err
    end
    err = alone and text or { err = text }
  end
  if raw_type(err) ~= 'table' then
    err = { err = 'ERR ' .. raw_tostring(err) }
  end
  local text = err.err
  if raw_type(text) ~= 'string' then
    text = 'ERR unknown error'
  end
  return text .. '\n' .. host.where()
end

local function run(script)
  return raw_xpcall(script, explain)
end

local function call(callback, keys, args)
  return raw_xpcall(function() return callback(keys, args) end, explain)
end

-- What a library finds around it while it is loaded: nothing but what it registers its functions with.
local registered
local flags_known = {}
for _, flag in ipairs({ 'no-writes', 'allow-oom', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys' }) do
  flags_known[flag] = true
end

local function refuse(text)
  raw_error({ err = 'ERR ' .. text })
end

local function text_of(value, what)
  if raw_type(value) ~= 'string' and raw_type(value) ~= 'number' then
    refuse(what .. ' must be a string')
  end
  return raw_tostring(value)
end

local readers = {
  function_name = function(f, value) f.name = text_of(value, 'function_name argument given to redis.register_function') end,
  description = function(f, value)
    f.description = text_of(value, 'description argument given to redis.register_function')
  end,
  callback = function(f, value)
    if raw_type(value) ~= 'function' then
      refuse('callback argument given to redis.register_function must be a function')
    end
    f.callback = value
  end,
  flags = function(f, value)
    if raw_type(value) ~= 'table' then
      refuse('flags argument to redis.register_function must be a table representing function flags')
    end
    for i, flag in ipairs(value) do
      local name = raw_tostring(flag):lower()
      if not flags_known[name] then
        refuse('unknown flag given')
      end
      f.flags[i] = name
    end
  end,
}

local function named(args)
  if raw_type(args) ~= 'table' then
    refuse('calling redis.register_function with a single argument is only applicable to Lua table ' ..
      '(representing named arguments).')
  end
  local f = { flags = {} }
  for key, value in raw_next, args do
    if raw_type(key) ~= 'string' and raw_type(key) ~= 'number' then
      refuse('named argument key given to redis.register_function is not a string')
    end
    local read = readers[raw_tostring(key):lower()]
    if not read then
      refuse('unknown argument given to redis.register_function')
    end
    read(f, value)
  end
  if not f.name then
    refuse('redis.register_function must get a function name argument')
  elseif not f.callback then
    refuse('redis.register_function must get a callback argument')
  end
  return f
end

local function register_function(...)
  local count, name, callback = raw_select('#', ...), ...
  if count < 1 or count > 2 then
    refuse('wrong number of arguments to redis.register_function')
  elseif count == 1 then
    registered[#registered + 1] = named(name)
    return
  end
  name = text_of(name, 'first argument to redis.register_function')
  if raw_type(callback) ~= 'function' then
    refuse('second argument to redis.register_function must be a function')
  end
  registered[#registered + 1] = { name = name, callback = callback, flags = {} }
end

local function missing(_, name)
  raw_error("Script attempted to access nonexistent global variable '" .. raw_tostring(name) .. "'", 2)
end

local while_loading = raw_setmetatable({
  redis = seal({
    register_function = register_function, log = host.log,
    LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
    REDIS_VERSION = redis.REDIS_VERSION, REDIS_VERSION_NUM = redis.REDIS_VERSION_NUM,
  }, missing),
}, { __index = missing })

local function surround(loading)
  raw_getmetatable(face).__index = loading and while_loading or globals
end

local function load_library(code)
  registered = {}
  local ok, err = raw_pcall(code)
  if ok then
    return ok, registered
  end
  if raw_type(err) == 'userdata' then
    err = { err = host.text_of(err) }
  end
  if raw_type(err) == 'table' then
    return ok, raw_tostring(err.err)
  end
  return ok, 'ERR ' .. raw_tostring(err)
end

return face, globals, run, call, surround, load_library
