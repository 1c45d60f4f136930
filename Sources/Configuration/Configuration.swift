/// One file and the environment to typed settings; every problem reported at once.
